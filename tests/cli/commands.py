"""Runs `companion` as a person or a script does: a real process, its output, its exit status."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "companion_app"]
NOTES = {
    "Cello.md": "---\ndate: 2026-03-01\ntags: [workshop/cello]\n---\n# Cello\n\n"
    "Regraduated the top of the cello to 4.2 mm. The bass bar is spruce.\n",
    "Journal/2026-03-02.md": "#DayInShort\nRain all day. Bought varnish from Benedita for 38 euros.\n",
    "Kitchen/Soup.md": "# Caldo verde\n\nKale, potatoes and one slice of chouriço.\n",
    "Kitchen/Odd.md": "# Odd\n\nA kettle [bold red]not markup[/] that says \x1b[31mred\x1b]0;title\x07 and "
    "beeps, bought from Zsófia.\n",
}


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Shell:
    """A data root, a vault and further variables."""

    home: Path
    vault: Path | None
    variables: dict[str, str]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("COMPANION_")}
        cache = os.environ.get("COMPANION_MODEL_CACHE")
        return {
            **kept,
            **({"COMPANION_MODEL_CACHE": cache} if cache else {}),
            **({"COMPANION_VAULT__PATH": str(self.vault)} if self.vault else {}),
            "COMPANION_HOME": str(self.home),
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "100",
            "LANG": "C.UTF-8",
            **self.variables,
        }

    def with_variables(self, **variables: str) -> "Shell":
        return Shell(self.home, self.vault, {**self.variables, **variables})

    def copy(self, folder: Path) -> "Shell":
        """The same data root and vault elsewhere, to be changed at will."""
        assert self.vault
        shutil.copytree(self.home, folder / "home")
        shutil.copytree(self.vault, folder / "vault")
        return Shell(folder / "home", folder / "vault", self.variables)

    def run(self, *arguments: str, stdin: str | bytes = b"", cwd: Path = ROOT, limit: str = "") -> Done:
        """Run a command to its end; whatever it is given, nobody is shown a traceback or an escape code.

        Args:
            arguments: After `companion`.
            stdin: What the pipe holds.
            cwd: Where it runs.
            limit: Shell words before the command (`ulimit …`).
        """
        command = ["bash", "-c", f'{limit} exec "$@"', "bash", *COMMAND, *arguments] if limit else COMMAND
        done = subprocess.run(
            [*command, *([] if limit else arguments)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            env=self.environment,
            cwd=cwd,
            capture_output=True,
            timeout=120,
            check=False,
        )
        said = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
        for text in (said.out, said.err):
            assert "Traceback" not in text, text
            assert "\x1b" not in text, text
        return said

    def refused(self, *arguments: str, stdin: str | bytes = b"", limit: str = "") -> str:
        """Run a command that must fail plainly: status 1, nothing on standard output; returns what it said."""
        done = self.run(*arguments, stdin=stdin, limit=limit)
        assert done.status == 1, done
        assert done.out == ""
        assert done.err.startswith("error: ") or "\nerror: " in done.err, done.err
        return done.err


def write_vault(root: Path, notes: dict[str, str]) -> Path:
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root

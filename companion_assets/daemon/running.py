"""Which services of this data root are running, and where they listen. Needs no Dagster."""

import json
from dataclasses import asdict, dataclass

from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.process_mark import ProcessMark


@dataclass(frozen=True, slots=True)
class Services:
    """Addresses of a running `companion up`.

    Attributes:
        pid: The supervisor.
        started: When that process began (seconds since the epoch); a reused pid has another one.
    """

    pid: int
    started: float
    app_url: str
    dagster_port: int

    @property
    def dagster_url(self) -> str:
        """Dagster's own page."""
        return f"http://127.0.0.1:{self.dagster_port}"


def running_services(paths: DataPaths) -> Services | None:
    """What `companion up` wrote down, if that very process is still alive."""
    try:
        services = Services(**json.loads((paths.locks_dir / "up.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return services if ProcessMark(services.pid, services.started).is_alive else None


def announce(paths: DataPaths, services: Services) -> None:
    """Write down what runs; a reader finds all of it or nothing."""
    partial = paths.locks_dir / ".up.json"
    partial.write_text(json.dumps(asdict(services)), encoding="utf-8")
    partial.replace(paths.locks_dir / "up.json")


def withdraw(paths: DataPaths) -> None:
    """Nothing runs any more."""
    (paths.locks_dir / "up.json").unlink(missing_ok=True)

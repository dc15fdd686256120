"""Does everything fit together? Looks at settings, vault, data root, engines and index, and changes nothing.

Every look is one check with a state and, where something is missing, the command that mends it. Engines are looked
for, not opened: a doctor must answer in a second, also beside a running Companion.
"""

from collections.abc import Callable

from companion_app.doctor.engines import check_answerer, check_embedder, check_runtime
from companion_app.doctor.places import check_data_root, check_disk, check_index, check_run_log, check_vault
from companion_app.doctor.report import Check, Report, Setting, State, render_report
from companion_app.doctor.watching import check_services, check_watches
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.settings import Settings, inactive_keys
from companion_assets.stores.settings_file import LoadedSettings

__all__ = ["Check", "Report", "Setting", "State", "render_report", "run_doctor"]


def run_doctor(loaded: LoadedSettings, paths: DataPaths) -> Report:
    """Look at everything; a look that fails is itself a finding."""
    settings = loaded.settings
    changed = settings_in_force(loaded)
    looks: list[tuple[str, Callable[[], Check]]] = [
        ("settings", lambda: _check_settings(loaded, changed)),
        ("keys not active yet", lambda: _check_inactive(changed)),
        ("vault", lambda: check_vault(settings.vault)),
        ("data root", lambda: check_data_root(settings.vault, paths)),
        ("disk", lambda: check_disk(paths)),
        ("embedder", lambda: check_embedder(settings.rag.embedding, paths)),
        ("runtime", lambda: check_runtime(settings.model.inference)),
        ("answerer", lambda: check_answerer(settings.model.inference, paths)),
        ("index", lambda: check_index(settings, paths)),
        ("run log", lambda: check_run_log(paths)),
        ("services", lambda: check_services(settings.vault.indexing, paths)),
        ("watched folders", lambda: check_watches(settings.vault)),
    ]
    return Report(tuple(_looked(name, look) for name, look in looks), changed)


def settings_in_force(loaded: LoadedSettings) -> tuple[Setting, ...]:
    """Every key that was set, or whose value is not the default, with its value and where that comes from."""
    later = inactive_keys()
    return tuple(
        Setting(key, value, loaded.where(key), value == _at(Settings(), key), later.get(key, ""))
        for key, origin in loaded.origins.items()
        if (value := _at(loaded.settings, key)) != _at(Settings(), key) or origin.kind != "default"
    )


def _looked(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except CompanionError as fault:
        return Check(name, "fail", fault.message, fault.hint)
    except OSError as fault:
        return Check(name, "fail", f"could not be looked at: {fault}")


def _check_settings(loaded: LoadedSettings, changed: tuple[Setting, ...]) -> Check:
    differ = sum(not setting.is_default for setting in changed)
    source = f"read from {loaded.path}" if loaded.path else "no settings file"
    return Check("settings", "ok", f"{source}; {differ} of {len(loaded.origins)} keys differ from the defaults")


def _check_inactive(changed: tuple[Setting, ...]) -> Check:
    waiting = [f"{setting.key} ({setting.waits_for})" for setting in changed if setting.waits_for]
    if not waiting:
        return Check("keys not active yet", "ok", "none is set")
    return Check("keys not active yet", "warn", f"accepted, but doing nothing so far: {', '.join(waiting)}")


def _at(settings: Settings, key: str) -> object:
    value: object = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value

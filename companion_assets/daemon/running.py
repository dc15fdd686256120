"""Which services of this data root are running, and where they listen. Needs no Dagster."""

from dataclasses import asdict, dataclass

from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.process_sign import put_sign, read_sign


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
        sign = read_sign(paths.locks_dir / "up.json")
        return Services(**sign) if sign else None
    except TypeError:  # another version's
        return None


def announce(paths: DataPaths, services: Services) -> None:
    """Write down what runs."""
    put_sign(paths.locks_dir / "up.json", asdict(services))


def withdraw(paths: DataPaths) -> None:
    """Nothing runs any more."""
    (paths.locks_dir / "up.json").unlink(missing_ok=True)

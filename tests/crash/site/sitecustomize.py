"""Imported by every Python that starts with this folder on its path: arms it as the environment says."""

from tests.crash.faulty import arm_from_environment

arm_from_environment()

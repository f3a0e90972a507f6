"""What all tests share: settings that no environment disturbs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from automem.config import Settings

MakeSettings = Callable[..., Settings]


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the settings, keys and .env files of the person who runs the tests."""
    names = {name.upper() for name in Settings.model_fields}
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.upper() in names]:
            patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture
def make_settings(tmp_path: Path) -> MakeSettings:
    """Give settings on a fresh data directory, changed as named."""

    def make(**changes: object) -> Settings:
        return Settings.model_validate({"automem_data_dir": tmp_path / "data", **changes})

    return make

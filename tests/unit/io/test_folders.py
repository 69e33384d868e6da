"""Where things are kept: the custom of the system, or ARMDYN_CACHE_DIR."""

import os
import sys

import pytest

from armdyn.errors import CacheError
from armdyn.io.shelf import VARIABLE, cache_folder
from armdyn.kernels.cache import ObjectCache, user_cache


def test_the_suite_does_not_use_the_cache_of_the_user(monkeypatch):
    here = cache_folder("kernels")
    monkeypatch.delenv(VARIABLE)
    assert here != cache_folder("kernels")


def test_a_path_is_the_root_of_all_kinds(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert user_cache() == ObjectCache(tmp_path / "kernels")
    assert cache_folder("choices") == tmp_path / "choices"


def test_home_may_be_abbreviated(monkeypatch, tmp_path):
    for home in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(home, str(tmp_path))
    monkeypatch.setenv(VARIABLE, os.path.join("~", "there"))
    assert cache_folder("kernels") == tmp_path / "there" / "kernels"


@pytest.mark.parametrize("word", ["", "off", "OFF", " off "])
def test_off_and_empty_keep_nothing(monkeypatch, word):
    monkeypatch.setenv(VARIABLE, word)
    assert user_cache() is None
    assert cache_folder("choices") is None


@pytest.mark.parametrize("word", ["no", "0", "some/folder", "."])
def test_a_relative_path_is_refused(monkeypatch, word):
    monkeypatch.setenv(VARIABLE, word)
    with pytest.raises(CacheError, match="ARMDYN_CACHE_DIR is .*expected an absolute path, or"):
        user_cache()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these have their own places")
def test_without_it_the_custom_of_the_system_holds(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    for given, root in ((str(tmp_path / "x"), "x"), ("", ".cache"), ("relative", ".cache")):
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert cache_folder("kernels") == tmp_path / root / "armdyn" / "kernels"

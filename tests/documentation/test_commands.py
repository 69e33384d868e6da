"""Every verb has a page, and what its page shows is what the verb prints."""

import re

import pytest
from refresh import CONSOLE, console_block, console_commands, same

from armdyn.cli import GROUPS
from support.pages import PAGES

SHOWN = [block for text in PAGES.values() for block in CONSOLE.findall(text)]


def test_every_verb_has_a_page_with_its_options():
    verbs = [verb for group in GROUPS.values() for verb in group]
    assert len(verbs) > 15
    assert [v for v in verbs if f"<!-- help {v} -->" not in PAGES[f"docs/commands/{v}"]] == []
    listed = re.findall(r"\(commands/(\w+)\.md\)", PAGES["docs/index"])
    assert sorted(listed) == sorted(verbs)


@pytest.mark.slow
@pytest.mark.parametrize("block", SHOWN, ids=[console_commands(block)[0] for block in SHOWN])
def test_a_command_prints_what_its_page_shows(block, folder):
    now = console_block(console_commands(block), folder)
    assert same(block, now), now

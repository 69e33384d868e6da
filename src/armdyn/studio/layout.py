"""The page of one window: live torques on the left, everything that is moved on the right."""

from armdyn.studio.panels.design import DesignPanel
from armdyn.studio.panels.files import FilesPanel
from armdyn.studio.panels.matrix import MatrixPanel
from armdyn.studio.panels.motion import MotionPanel
from armdyn.studio.panels.operations import OperationsPanel
from armdyn.studio.panels.play import PlayPanel
from armdyn.studio.panels.structure import StructurePanel
from armdyn.studio.panels.torque import TorquePanel
from armdyn.studio.session import Panel, Session

LEFT, RIGHT = 340, 360
"""Widths of the columns, so that 1280 pixels leave room for the arm."""


def lay_out(session: Session) -> list[Panel]:
    """Every panel in its place."""
    gui = session.client.gui
    gui.main_panel.dock_right()
    gui.main_panel.set_width(RIGHT)
    tabs = gui.add_tab_group()
    with tabs.add_tab("Move"):
        motion = MotionPanel(session)
    with tabs.add_tab("Play"):
        play = PlayPanel(session, motion)
    with tabs.add_tab("Study"):
        with gui.add_folder("Operations"):
            operations = OperationsPanel(session)
        with gui.add_folder("Structure"):
            structure = StructurePanel(session)
    with tabs.add_tab("Design"):
        design = DesignPanel(session)
    with tabs.add_tab("Robot"):
        files = FilesPanel(session, play)
    side = gui.add_panel()
    with side.add_tab("Now"):
        with gui.add_folder("Torque of each joint"):
            torque = TorquePanel(gui)
        with gui.add_folder("Mass matrix"):
            matrix = MatrixPanel(gui)
    side.dock_left()
    side.set_width(LEFT)
    return [motion, play, operations, structure, design, files, torque, matrix]

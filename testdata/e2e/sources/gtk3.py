"""A window to drag from, with GTK 3:  gtk3.py files PATHS|text WORDS

PATHS is a file of file names, each ended by a NUL. What became of each drag is
printed: "taken copy", "refused"."""
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk

kind, what = sys.argv[1:]
names = open(what, "rb").read().split(b"\0")[:-1] if kind == "files" else []
uris = [GLib.filename_to_uri(n, None) for n in names]

window = Gtk.Window(title="source", default_width=160, default_height=120)
css = Gtk.CssProvider()
css.load_from_data(b"window { background: #ff00ff; }")
Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), css, 800)
box = Gtk.EventBox(visible_window=False, above_child=True)
box.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY | Gdk.DragAction.MOVE)
if kind == "files":
    box.drag_source_add_uri_targets()
else:
    box.drag_source_add_text_targets()


def get(box, context, data, info, time):
    if kind == "files":
        data.set_uris(uris)
    else:
        data.set_text(what, -1)


def end(box, context):
    global failed
    action = context.get_selected_action()
    print("refused" if failed else "taken " + action.first_value_nick, flush=True)
    failed = False


def fail(box, context, result):
    global failed
    failed = True
    return True  # no flying back


failed = False
box.connect("drag-data-get", get)
box.connect("drag-end", end)
box.connect("drag-failed", fail)
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()

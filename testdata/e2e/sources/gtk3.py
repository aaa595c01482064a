"""A window to drag from, with GTK 3:  gtk3.py WHAT

WHAT is a file, read anew for every drag: "files" and their names, or "text" and
some words, each ended by a NUL. What became of a drag is printed: "taken copy",
"refused"."""
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk

kind, items, failed = "", [], False


def press(box, event):
    global kind, items
    kind, *items = [i.decode() for i in open(sys.argv[1], "rb").read().split(b"\0")[:-1]]
    box.drag_source_set_target_list(None)
    if kind == "files":
        box.drag_source_add_uri_targets()
    else:
        box.drag_source_add_text_targets()


def get(box, context, data, info, time):
    if kind == "files":
        data.set_uris([GLib.filename_to_uri(i, None) for i in items])
    else:
        data.set_text(items[0], -1)


def end(box, context):
    global failed
    print("refused" if failed else "taken " + context.get_selected_action().first_value_nick, flush=True)
    failed = False


def fail(box, context, result):
    global failed
    failed = True
    return True  # no flying back


window = Gtk.Window(title="source", default_width=160, default_height=120)
css = Gtk.CssProvider()
css.load_from_data(b"window { background: #ff00ff; }")
Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), css, 800)
box = Gtk.EventBox(visible_window=False, above_child=True)
box.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY | Gdk.DragAction.MOVE)
box.connect("button-press-event", press)
box.connect("drag-data-get", get)
box.connect("drag-end", end)
box.connect("drag-failed", fail)
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()

"""A window to drag from, with GTK 4; see gtk3.py."""
import sys

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, GLib, Gtk

failed = False


def prepare(source, x, y):
    kind, *items = [i.decode() for i in open(sys.argv[1], "rb").read().split(b"\0")[:-1]]
    if kind == "text":
        return Gdk.ContentProvider.new_for_value(items[0])
    return Gdk.ContentProvider.new_for_value(Gdk.FileList.new_from_list([Gio.File.new_for_path(i) for i in items]))


def end(source, drag, delete):
    global failed
    print("refused" if failed else "taken " + drag.get_selected_action().first_value_nick, flush=True)
    failed = False


def cancel(source, drag, reason):
    global failed
    failed = True
    return False


loop = GLib.MainLoop()
window = Gtk.Window(title="source", default_width=160, default_height=120)
css = Gtk.CssProvider()
css.load_from_data(b"window, box { background: #ff00ff; }")
Gtk.StyleContext.add_provider_for_display(Gdk.Display.get_default(), css, 800)
box = Gtk.Box(hexpand=True, vexpand=True)
source = Gtk.DragSource(actions=Gdk.DragAction.COPY | Gdk.DragAction.MOVE)
source.connect("prepare", prepare)
source.connect("drag-end", end)
source.connect("drag-cancel", cancel)
box.add_controller(source)
window.set_child(box)
window.connect("close-request", lambda w: loop.quit())
window.present()
loop.run()

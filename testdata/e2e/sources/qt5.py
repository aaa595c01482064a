"""A window to drag from, with Qt 5; see gtk3.py."""
import os
import sys

from PyQt5.QtCore import QMimeData, Qt, QUrl
from PyQt5.QtGui import QDrag
from PyQt5.QtWidgets import QApplication, QWidget

kind, what = sys.argv[1:]
names = open(what, "rb").read().split(b"\0")[:-1] if kind == "files" else []


class Source(QWidget):
    def mousePressEvent(self, e):
        self.start = e.pos()

    def mouseMoveEvent(self, e):
        if (e.pos() - self.start).manhattanLength() < QApplication.startDragDistance():
            return
        data = QMimeData()
        if kind == "files":
            data.setUrls([QUrl.fromLocalFile(os.fsdecode(n)) for n in names])
        else:
            data.setText(what)
        drag = QDrag(self)
        drag.setMimeData(data)
        action = drag.exec_(Qt.CopyAction | Qt.MoveAction)
        print({Qt.CopyAction: "taken copy", Qt.MoveAction: "taken move"}.get(action, "refused"), flush=True)


app = QApplication(["source"])
source = Source(windowTitle="source")
source.setStyleSheet("background: #ff00ff")
source.resize(160, 120)
source.show()
app.exec_()

"""A window to drag from, with Qt 5; see gtk3.py."""
import sys

from PyQt5.QtCore import QMimeData, Qt, QUrl
from PyQt5.QtGui import QDrag
from PyQt5.QtWidgets import QApplication, QWidget


class Source(QWidget):
    def mousePressEvent(self, e):
        self.start = e.pos()

    def mouseMoveEvent(self, e):
        if (e.pos() - self.start).manhattanLength() < QApplication.startDragDistance():
            return
        kind, *items = [i.decode() for i in open(sys.argv[1], "rb").read().split(b"\0")[:-1]]
        data = QMimeData()
        if kind == "files":
            data.setUrls([QUrl.fromLocalFile(i) for i in items])
        else:
            data.setText(items[0])
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

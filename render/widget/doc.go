// Package widget provides generic parts of the window: pointer input, lists, menus,
// choosers and their keys. A part draws itself and reports input; its owner decides what
// to do with it.
package widget

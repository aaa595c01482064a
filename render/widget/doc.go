// Package widget has the parts of a window that know no domain: where the pointer
// is and what it does, lists, menus, choosers, and what keys do in them. A part
// draws itself and says what was done to it; what that means is its owner's.
package widget

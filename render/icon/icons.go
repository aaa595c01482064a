package icon

import (
	"strings"

	"golang.org/x/exp/shiny/materialdesign/icons"
)

// Icons of places and commands.
var (
	Open    = &Icon{data: icons.FileFolderOpen}
	Demo    = &Icon{data: icons.AVPlayCircleOutline}
	Compare = &Icon{data: icons.ActionCompareArrows}
	Search  = &Icon{data: icons.ActionSearch}
	Colour  = &Icon{data: icons.ImagePalette}
	Theme   = &Icon{data: icons.ImageBrightness6}
	Help    = &Icon{data: icons.ActionHelpOutline}
	Copy    = &Icon{data: icons.ContentContentCopy}
)

// verbs are the icons of commands, by the first word of their titles.
var verbs = map[string]*Icon{
	"Open": Open, "Compare": Compare, "Search": Search, "Help": Help, "Copy": Copy,
	"Save":     {data: icons.ContentSave},
	"Zoom":     {data: icons.ActionZoomIn},
	"Select":   {data: icons.ContentSelectAll},
	"Focus":    {data: icons.ImageFilterCenterFocus},
	"Show":     {data: icons.ActionVisibility},
	"Hide":     {data: icons.ActionVisibilityOff},
	"Merge":    {data: icons.NavigationArrowUpward},
	"Remove":   {data: icons.ActionDelete},
	"Fold":     {data: icons.NavigationUnfoldLess},
	"Unfold":   {data: icons.NavigationUnfoldMore},
	"Collapse": {data: icons.EditorVerticalAlignCenter},
	"Pin":      {data: icons.MapsPlace},
	"Sort":     {data: icons.ContentSort},
	"Swap":     {data: icons.ActionSwapHoriz},
	"Rename":   {data: icons.EditorModeEdit},
	"Callers":  {data: icons.CommunicationCallMerge},
	"Callees":  {data: icons.CommunicationCallSplit},
	"Treat":    {data: icons.SocialPerson},
	"Close":    {data: icons.NavigationClose},
}

// Of returns the icon of a command by its title, nil if it has none. Commands with the
// same verb have the same icon.
func Of(title string) *Icon {
	verb, _, _ := strings.Cut(title, " ")
	return verbs[verb]
}

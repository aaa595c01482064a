package missing

// Formats are those that advice is given for.
func Formats() map[string]bool {
	all := map[string]bool{}
	for _, by := range how {
		for format := range by {
			all[format] = true
		}
	}
	return all
}

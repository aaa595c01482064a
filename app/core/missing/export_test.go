package missing

// Formats returns the formats for which there is specific advice.
func Formats() map[string]bool {
	all := map[string]bool{}
	for _, by := range how {
		for format := range by {
			all[format] = true
		}
	}
	return all
}

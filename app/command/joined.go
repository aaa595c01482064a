package command

import "ashlar/ingest/query/join"

// plus stands between recordings to join, or after the last of all.
const plus = "+"

// joinedArgs replaces arguments with a plus sign between them by the name of the recording
// that joins them. If the last one is a plus sign, all are joined: a shell expands a pattern
// to many arguments.
func joinedArgs(args []string) ([]string, error) {
	if n := len(args) - 1; n > 0 && args[n] == plus && args[n-1] != plus {
		var files []string
		for _, a := range args[:n] {
			if a != plus {
				files = append(files, join.Split(a)...)
			}
		}
		return []string{join.Compact(files)}, nil
	}
	var out []string
	for i := 0; i < len(args); i++ {
		n := len(out) - 1
		switch {
		case args[i] != plus:
			out = append(out, args[i])
		case n < 0 || i+1 == len(args) || args[i+1] == plus:
			return nil, misuse("+ stands between two recordings to join, or after the last")
		default:
			i++
			out[n] = join.Name(append(join.Split(out[n]), join.Split(args[i])...)...)
		}
	}
	return out, nil
}

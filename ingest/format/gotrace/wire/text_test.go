package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// typeNames are the event types in the text form of traces, which the Go team's tests use,
// in the order of their numbers from 1.
var typeNames = strings.Fields(`EventBatch Stacks Stack Strings String CPUSamples CPUSample Frequency
	ProcsChange ProcStart ProcStop ProcSteal ProcStatus GoCreate GoCreateSyscall GoStart GoDestroy GoDestroySyscall
	GoStop GoBlock GoUnblock GoSyscallBegin GoSyscallEnd GoSyscallEndBlocked GoStatus STWBegin STWEnd GCActive GCBegin GCEnd
	GCSweepActive GCSweepBegin GCSweepEnd GCMarkAssistActive GCMarkAssistBegin GCMarkAssistEnd HeapAlloc HeapGoal GoLabel
	UserTaskBegin UserTaskEnd UserRegionBegin UserRegionEnd UserLog GoSwitch GoSwitchDestroy GoCreateBlocked GoStatusStack
	ExperimentalBatch Sync ClockSnapshot EndOfGeneration`)

// binaryOf converts a trace from the text form to the binary form.
func binaryOf(t *testing.T, text string) (content []byte, version int) {
	t.Helper()
	for l := range strings.Lines(text) {
		l, _, _ = strings.Cut(strings.TrimSpace(l), "#")
		name, rest, _ := strings.Cut(l, " ")
		if v, ok := strings.CutPrefix(rest, "Go1."); ok && name == "Trace" {
			version, _ = strconv.Atoi(v)
			content = fmt.Appendf(nil, "go 1.%d trace\x00\x00\x00", version)
			continue
		}
		if quoted, ok := strings.CutPrefix(l, "data="); ok {
			data, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatal(l, err)
			}
			content = append(binary.AppendUvarint(content, uint64(len(data))), data...)
			continue
		}
		if i := slices.Index(typeNames, name); i >= 0 {
			content = append(content, byte(i+1))
		} else if name != "" && !strings.Contains(name, "=") {
			t.Fatalf("what is %q?", l)
		} else {
			rest = l
		}
		for _, f := range strings.Fields(rest) {
			_, number, _ := strings.Cut(f, "=")
			n, err := strconv.ParseUint(number, 10, 64)
			if err != nil {
				t.Fatal(l, err)
			}
			content = binary.AppendUvarint(content, n)
		}
	}
	return content, version
}

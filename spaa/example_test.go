package spaa_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"ashlar/spaa"
)

const recording = `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period"}}],"stack_id_mode":"local"}
{"type":"dso","id":1,"name":"/usr/bin/myapp","is_kernel":false}
{"type":"frame","id":1,"func":"parse","dso":1,"kind":"user"}
{"type":"frame","id":2,"func":"main","dso":1,"kind":"user"}
{"type":"stack","id":1,"frames":[1,2],"context":{"event":"cycles"},"weights":[{"metric":"period","value":9007199254740993}]}
{"type":"stack","id":2,"frames":[2],"context":{"event":"cycles"},"wei
{"type":"stack","id":3,"frames":[2],"context":{"event":"cycles"},"weights":[{"metric":"period","value":7}]}
`

// Sum the weights of each leaf function and continue after a damaged line.
func ExampleReader() {
	r := spaa.NewReader(strings.NewReader(recording))
	var header *spaa.Header
	functions := map[int64]string{}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var bad *spaa.LineError
		if errors.As(err, &bad) {
			fmt.Println("skipped:", bad)
			continue
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		switch rec := rec.(type) {
		case *spaa.Header:
			header = rec
		case *spaa.Frame:
			functions[rec.ID] = rec.Func
		case *spaa.Stack:
			event := header.Event(rec.Context.Event)
			weight, _ := rec.Weight(event.Sampling.PrimaryMetric).Int64()
			leaf, _ := rec.Leaf(header.FrameOrder)
			fmt.Println(functions[leaf], weight)
		}
	}
	// Output:
	// parse 9007199254740993
	// skipped: line 6, byte 70: the line ends in the middle of a record
	// main 7
}

// Write a file whose stack ids can be compared with those of other files.
func ExampleWriter() {
	w := spaa.NewWriter(os.Stdout)
	id := spaa.ContentID([]spaa.FrameIdentity{{Func: "main", DSO: "/usr/bin/myapp"}})
	weights := []spaa.Weight{{Metric: "samples", Value: spaa.IntNumber(3)}}
	for _, rec := range []spaa.Record{
		&spaa.Header{
			Format: "spaa", Version: "1.0", SourceTool: "dtrace",
			FrameOrder: spaa.LeafToRoot, StackIDMode: spaa.ContentAddressable,
			Events: []spaa.Event{{Name: "profile-997", Kind: "timer", Sampling: spaa.Sampling{
				Mode: "frequency", PrimaryMetric: "samples", FrequencyHz: spaa.IntNumber(997),
			}}},
		},
		&spaa.DSO{ID: 1, Name: "/usr/bin/myapp", IsKernel: spaa.Some(false)},
		&spaa.Frame{ID: 1, Func: "main", DSO: 1, Kind: "user"},
		&spaa.Stack{
			ID: id, Frames: []int64{1}, Context: &spaa.Context{Event: "profile-997"},
			Weights: weights, Exclusive: &spaa.Exclusive{Frame: 1, Weights: weights},
		},
	} {
		if err := w.Write(rec); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"type":"header","format":"spaa","version":"1.0","source_tool":"dtrace","frame_order":"leaf_to_root","events":[{"name":"profile-997","kind":"timer","sampling":{"mode":"frequency","primary_metric":"samples","frequency_hz":997}}],"stack_id_mode":"content_addressable"}
	// {"type":"dso","id":1,"name":"/usr/bin/myapp","is_kernel":false}
	// {"type":"frame","id":1,"func":"main","dso":1,"kind":"user"}
	// {"type":"stack","id":"0x8aa96f27dfb0346e","frames":[1],"context":{"event":"profile-997"},"weights":[{"metric":"samples","value":3}],"exclusive":{"frame":1,"weights":[{"metric":"samples","value":3}]}}
}

func ExampleValidate() {
	report, err := spaa.Validate(strings.NewReader(recording), spaa.ValidateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range report.Findings {
		if f.Severity == spaa.Error {
			fmt.Println(f)
		}
	}
	fmt.Println(report.Valid())
	// Output:
	// 6: error [json-object]: the line is not one JSON object: byte 70: the line ends in the middle of a record
	// false
}

package command

import (
	"testing"

	"ashlar/app/agent/serve"
)

// noQuestions lists the commands with JSON output that no session answers, with the reason.
var noQuestions = map[string]string{
	"cache":        "lists files of the user",
	"check":        "reads a file byte by byte",
	"check-claims": "asks the session for every command that it runs",
	"convert":      "writes a file",
	"marks":        "lists notes of the user",
	"show":         "moves the window",
	"tables":       "writes files",
	"trend":        "reads many files, which need not stay loaded",
}

// TestSessionsAnswerQuestions checks that a session answers each command with JSON output,
// except noQuestions.
func TestSessionsAnswerQuestions(t *testing.T) {
	for _, c := range commands() {
		if c.Answer != nil && serve.Answers(c.Name) == (noQuestions[c.Name] != "") {
			t.Errorf("%s: add it to either serve.Questions or noQuestions", c.Name)
		}
	}
}

package command

import (
	"testing"

	"ashlar/app/agent/serve"
)

// noQuestions are commands with JSON that no session answers, and why.
var noQuestions = map[string]string{
	"cache":        "lists files of the user",
	"check":        "reads a file byte by byte",
	"check-claims": "asks the session for every command that it runs",
	"convert":      "writes a file",
	"marks":        "lists notes of the user",
	"show":         "moves the window",
	"trend":        "reads many files, which need not stay loaded",
}

// TestSessionsAnswerQuestions: a session answers each command, or there is a reason.
func TestSessionsAnswerQuestions(t *testing.T) {
	for _, c := range commands() {
		if c.Answer != nil && serve.Answers(c.Name) == (noQuestions[c.Name] != "") {
			t.Errorf("%s: add it to either serve.Questions or noQuestions", c.Name)
		}
	}
}

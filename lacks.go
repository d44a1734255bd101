package harness

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Lacks is what a session does not have because of its engine.
type Lacks struct {
	Events   []Type   `json:"events,omitempty"`
	Commands []string `json:"commands,omitempty"`
	Settings []string `json:"settings,omitempty"`
}

// UnmarshalJSON reads lists of plain words without looking at each: every session
// that wakes has them in its state, and they were a tenth of waking it.
func (l *Lacks) UnmarshalJSON(b []byte) error {
	var lists struct {
		Events   json.RawMessage `json:"events"`
		Commands json.RawMessage `json:"commands"`
		Settings json.RawMessage `json:"settings"`
	}
	if err := json.Unmarshal(b, &lists); err != nil {
		return err
	}
	*l = Lacks{}
	events, err := readWords(lists.Events)
	if err == nil {
		l.Commands, err = readWords(lists.Commands)
	}
	if err == nil {
		l.Settings, err = readWords(lists.Settings)
	}
	for _, e := range events {
		l.Events = append(l.Events, Type(e))
	}
	return err
}

// readWords reads a list of strings.
func readWords(b json.RawMessage) (words []string, err error) {
	inner, begins := bytes.CutPrefix(b, []byte(`["`))
	inner, ends := bytes.CutSuffix(inner, []byte(`"]`))
	between := []byte(`","`)
	if begins && ends && !bytes.ContainsAny(inner, "\\ \t\r\n") && bytes.Count(inner, between[:1]) == 2*bytes.Count(inner, between) {
		return strings.Split(string(inner), string(between)), nil
	}
	if len(b) > 0 {
		err = json.Unmarshal(b, &words)
	}
	return words, err
}

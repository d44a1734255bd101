package model

import (
	"bytes"
	"encoding/json"
)

// Role says who speaks.
type Role string

const (
	User      Role = "user" // also carries the results of tools
	Assistant Role = "assistant"
)

// Message is what one side said, in parts.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// PartKind says which fields of a Part are meant.
type PartKind string

const (
	PartText     PartKind = "text"        // Text
	PartThinking PartKind = "thinking"    // Text, Signature, Provider, ID, Redacted
	PartCall     PartKind = "tool_use"    // ID, Name, Args
	PartResult   PartKind = "tool_result" // ID of the call, Name, Parts, IsError
	PartImage    PartKind = "image"       // Media, Data
	PartFile     PartKind = "file"        // Media, Data, Name
)

// Part is a piece of a message. Its JSON form is for whoever keeps
// conversations; no provider speaks it.
type Part struct {
	Kind      PartKind `json:"kind"`
	Text      string   `json:"text,omitempty"`
	ID        string   `json:"id,omitempty"`
	Name      string   `json:"name,omitempty"`
	Args      string   `json:"args,omitempty"` // JSON as the model wrote it, which may be broken
	Parts     []Part   `json:"parts,omitempty"`
	IsError   bool     `json:"is_error,omitempty"`
	Media     string   `json:"media,omitempty"`
	Data      []byte   `json:"data,omitempty"`
	Signature string   `json:"signature,omitempty"` // opaque; goes back to Provider as it came
	Provider  string   `json:"provider,omitempty"`  // who thought this; no other provider is shown it
	Redacted  bool     `json:"redacted,omitempty"`  // the thought itself is inside the signature
}

// Say is a message of one text.
func Say(who Role, text string) Message { return Message{who, []Part{{Kind: PartText, Text: text}}} }

// Call is the request for a tool; args is JSON.
func Call(id, name, args string) Part {
	return Part{Kind: PartCall, ID: id, Name: name, Args: args}
}

// Result is what came of a call.
func Result(id, text string, isError bool) Part {
	return Part{Kind: PartResult, ID: id, Parts: []Part{{Kind: PartText, Text: text}}, IsError: isError}
}

// Object is the arguments of a call as a JSON object. What is not an object
// comes as {"malformed_arguments": text}, because providers take nothing else
// and the model should see what it wrote.
func (p *Part) Object() json.RawMessage {
	args := bytes.TrimSpace([]byte(p.Args))
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	if args[0] == '{' && json.Valid(args) {
		return args
	}
	b, err := json.Marshal(map[string]string{"malformed_arguments": p.Args})
	if err != nil {
		panic(err) // a map of strings
	}
	return b
}

// Plain is the text of the parts, those of results included, one after the other.
func Plain(parts []Part) string {
	var b []byte
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case PartText:
			b = append(b, p.Text...)
		case PartResult:
			b = append(b, Plain(p.Parts)...)
		case PartThinking, PartCall, PartImage, PartFile:
		}
	}
	return string(b)
}

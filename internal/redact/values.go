package redact

// Values knows only the values: what merely looks like a secret stays. It is for
// bytes that are somebody else's and must arrive as they were sent.
func Values(values ...string) (*Redactor, error) {
	r := &Redactor{}
	return r, r.Add(values...)
}

package rpc

// CodeOf is the number and the word that stand for err.
func CodeOf(err error) (int, string) {
	e := asError(err)
	return e.Code, e.Data.Code
}

// Parse says how many of a line's requests want an answer, and whether the
// answers come in one array.
func Parse(line []byte) (answers int, batch bool) {
	text := trim(line)
	if len(text) == 0 {
		return 0, false
	}
	calls, batch := parse(text)
	for _, c := range calls {
		if c.refusal != nil || c.id != nil {
			answers++
		}
	}
	return answers, batch
}

// Methods are the protocol's.
func Methods() []string {
	var names []string
	for _, m := range methods() {
		names = append(names, m.name)
	}
	return names
}

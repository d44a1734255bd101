package claude

// chain is the lines of the conversation as it stands: from its last message
// back to its first. What was said and then taken back is not in it.
func chain(all []*line) map[*line]bool {
	byID := make(map[string]*line, len(all))
	var last *line
	for _, l := range all {
		byID[l.UUID] = l
		if l.Message != nil && !l.Side {
			last = l
		}
	}
	in := map[*line]bool{}
	for l := last; l != nil && !in[l]; {
		in[l] = true
		next := l.Parent
		if next == "" {
			next = l.Logical
		}
		l = byID[next]
	}
	return beside(all, in)
}

// beside adds what belongs to a message of the chain and hangs beside it: calls
// that were made together, and their results.
func beside(all []*line, in map[*line]bool) map[*line]bool {
	messages, calls := map[string]bool{}, map[string]bool{}
	for l := range in {
		if l.Type == "assistant" && l.Message != nil && l.Message.ID != "" {
			messages[l.Message.ID] = true
		}
	}
	for _, l := range all {
		if l.Message == nil || l.Side {
			continue
		}
		if l.Type == "assistant" && messages[l.Message.ID] {
			in[l] = true
		}
		for _, b := range l.Message.Content {
			switch {
			case b.Type == "tool_use" && in[l]:
				calls[b.ID] = true
			case b.Type == "tool_result" && calls[b.Call]:
				in[l] = true
			}
		}
	}
	return in
}

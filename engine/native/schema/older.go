package schema

// renew says in the words of the draft that a schema is read as what it says in
// those of an older one.
func renew(s map[string]any, draft string) {
	for bound, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} { // draft 4
		is, ok := s[exclusive].(bool)
		if !ok {
			continue
		}
		delete(s, exclusive)
		if limit, ok := s[bound]; ok && is {
			s[exclusive] = limit
			delete(s, bound)
		}
	}
	first, ok := s["items"].([]any)
	if !ok || draft == draft7 {
		return
	}
	s["prefixItems"] = first // before 2020-12
	delete(s, "items")
	if rest, ok := s["additionalItems"]; ok {
		s["items"] = rest
	}
}

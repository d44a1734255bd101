package shape

// Schema writes types as JSON Schema (2020-12).
type Schema struct {
	Refs string // where declared objects are, as a prefix of references
	// Own describes the kinds that are the protocol's own words.
	Own func(kind string) map[string]any
}

// Declare is the schema of a declared object.
func (w Schema) Declare(s *Type) map[string]any {
	required, properties := []string{}, map[string]any{}
	for _, f := range s.Fields {
		properties[f.Name] = w.Use(f.Type)
		if !f.Optional {
			required = append(required, f.Name)
		}
	}
	return map[string]any{"type": "object", "required": required, "properties": properties}
}

// Use is the schema of a type where it is used: a reference if it is declared.
func (w Schema) Use(s *Type) map[string]any {
	if s.Name != "" {
		return map[string]any{"$ref": w.Refs + s.Name}
	}
	u := map[string]any{"type": s.Kind}
	if s.Null {
		u["type"] = []string{s.Kind, "null"}
	}
	switch s.Kind {
	case "any":
		return map[string]any{}
	case "array":
		u["items"] = w.Use(s.Elem)
	case "map":
		return map[string]any{"type": "object", "additionalProperties": w.Use(s.Elem)}
	case "string":
		if s.Max > 0 {
			u["maxLength"] = s.Max
		}
		if s.Words != nil {
			u["enum"] = s.Words
		}
		if s.Format != "" {
			u["format"] = s.Format
		}
	case "integer":
		if s.Max > 0 {
			u["maximum"] = s.Max
		}
		if s.Min != nil {
			u["minimum"] = *s.Min
		}
	case "boolean", "number":
	default:
		return w.Own(s.Kind)
	}
	return u
}

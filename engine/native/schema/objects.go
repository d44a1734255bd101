package schema

import (
	"maps"
	"slices"
)

// objects are the keywords about objects.
type objects struct {
	least, most *count
	required    []string
	properties  map[string]*shape
	patterns    []patterned
	others      *shape
	names       *shape
	dependent   []dependent
}

// patterned is what is asked of properties whose names match.
type patterned struct {
	*pattern
	shape *shape
}

// dependent is what is asked if there is a property.
type dependent struct {
	name     string
	required []string
	shape    *shape // nil: none
}

func (r reader) objects() *objects {
	o := &objects{least: r.count("minProperties"), most: r.count("maxProperties"), required: r.strings("required", r.doc["required"]),
		properties: r.named("properties"), others: r.one("additionalProperties"), names: r.one("propertyNames")}
	under := r.named("patternProperties")
	for _, expr := range slices.Sorted(maps.Keys(under)) {
		if p := r.c.pattern(expr); p != nil {
			o.patterns = append(o.patterns, patterned{p, under[expr]})
		}
	}
	for _, keyword := range []string{"dependencies", "dependentSchemas", "dependentRequired"} {
		all := r.object(keyword)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			d := dependent{name: name}
			if _, list := all[name].([]any); keyword == "dependentRequired" || list && keyword == "dependencies" {
				d.required = r.strings(keyword, all[name])
			} else {
				d.shape = r.c.compile(all[name], r.in)
			}
			o.dependent = append(o.dependent, d)
		}
	}
	if o.least == nil && o.most == nil && o.required == nil && o.properties == nil && o.patterns == nil && o.others == nil && o.names == nil && o.dependent == nil {
		return nil
	}
	return o
}

func (l *look) object(rules *objects, v map[string]any) {
	l.count("Properties", len(v), rules.least, rules.most)
	if missing := l.missing(rules.required, v); len(missing) == 1 && l.fails() {
		l.say("missing property %s", quoted(missing...))
	} else if len(missing) > 1 && l.fails() {
		l.say("missing properties %s", quoted(missing...))
	}
	if rules.properties != nil || rules.patterns != nil || rules.others != nil {
		l.properties(rules)
	}
	if rules.names != nil {
		l.names(rules.names)
	}
	for _, d := range rules.dependent {
		if _, there := v[d.name]; !l.spend(1) || !there || l.over() {
			continue
		}
		if missing := l.missing(d.required, v); len(missing) > 0 && l.fails() {
			l.say("properties %s required, if %s exists", quoted(missing...), quoted(d.name))
		}
		if d.shape != nil {
			l.also(d.shape)
		}
	}
}

// missing are the names that are not there; if nobody says so, one is enough.
func (l *look) missing(required []string, v map[string]any) (missing []string) {
	l.spend(len(required) / 4)
	for _, name := range required {
		if _, there := v[name]; there {
			continue
		}
		missing = append(missing, name)
		if l.words == nil {
			break
		}
	}
	return missing
}

func (l *look) properties(rules *objects) {
	var extra []string
	for i := range l.v.below {
		if l.over() || !l.spend(1) {
			return
		}
		name := l.v.below[i].name
		known, ok := rules.properties[name]
		if ok {
			l.below(known, i)
		}
		for _, p := range rules.patterns {
			if l.matches(p.pattern, name) {
				ok = true
				l.below(p.shape, i)
			}
		}
		switch {
		case ok || rules.others == nil:
		case rules.others.never:
			extra = append(extra, name)
			if l.words == nil {
				l.fails()
			}
		default:
			l.below(rules.others, i)
		}
	}
	if len(extra) > 0 && l.fails() {
		l.say("additional properties %s not allowed", quoted(extra...))
	}
}

// names looks at the names of properties.
func (l *look) names(s *shape) {
	for i := range l.v.below {
		if l.over() {
			return
		}
		name := l.v.below[i].name
		if ok, _ := l.fits(s, &item{raw: name}); !ok && l.fails() {
			l.say("invalid propertyName %s", quoted(name))
		}
	}
}

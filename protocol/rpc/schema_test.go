package rpc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"harness/protocol/rpc"
)

const docs = "../../docs/protocols/"

// The committed descriptions are those of the code. UPDATE=1 rewrites them.
func TestDescriptionsAreUpToDate(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]byte{"rpc.schema.json": rpc.Schema(), "rpc.d.ts": rpc.TypeScript()} {
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(docs+name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(docs + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the code (%v); run with UPDATE=1", name, err)
		}
	}
}

// The page about the protocol names every method, notification and code.
func TestPageNamesEverything(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(docs + "jsonrpc.md")
	if err != nil {
		t.Fatal(err)
	}
	var doc schema
	if err := json.Unmarshal(rpc.Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, m := range rpc.Methods() {
		words = append(words, "`"+m+"`")
	}
	for _, n := range doc.defs(t)["Notification"].OneOf {
		words = append(words, fmt.Sprintf("`%s`", n.Properties["method"].Const))
	}
	for _, c := range doc.defs(t)["RpcError"].Properties["code"].OneOf {
		words = append(words, strings.ReplaceAll(fmt.Sprint(c.Const), "-", "−"))
	}
	for _, w := range words {
		if !strings.Contains(string(page), w) {
			t.Errorf("docs/protocols/jsonrpc.md does not mention %s", w)
		}
	}
}

// Real traffic is what the schema says.
func TestTrafficFitsTheSchema(t *testing.T) {
	t.Parallel()
	var doc schema
	if err := json.Unmarshal(rpc.Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	defs := doc.defs(t)
	c := serve(t, "think Hm.\nsay a\nask bash {\"command\":\"ls\"} => ok\ntool t\nlog l\noutcome error broken\nusage 1 2 0.5\nemit artifact {\"artifact_id\":\"art_1\",\"artifact_type\":\"diff\"}\nsay b\n===\nfail broken\n===\nhang\n").connect()
	id := c.thread()
	check := func(what, ref string, raw []byte) {
		t.Helper()
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		if err := defs[ref].check(defs, v, ref); err != nil {
			t.Errorf("%s: %v\n%s", what, err, raw)
		}
	}
	call := func(method, params string) {
		t.Helper()
		check("params of "+method, strings.TrimPrefix(doc.Methods[method].Params.Ref, "#/$defs/"), []byte(params))
		l := c.call(method, params)
		if l.Error != nil {
			check("error of "+method, "Failure", []byte(l.raw))
			return
		}
		check("result of "+method, strings.TrimPrefix(doc.Methods[method].Result.Ref, "#/$defs/"), l.Result)
		check("answer of "+method, "Success", []byte(l.raw))
	}
	th := fmt.Sprintf(`"threadId":%q`, id)
	text := `,"input":[{"type":"text","text":"go"}]`
	call("initialize", `{"clientInfo":{"name":"x"}}`)
	call("turn.start", `{`+th+text+`,"model":{"providerID":"p","modelID":"m"},"agent":"code"}`)
	req := approval(c.until("approval.requested"))
	call("thread.subscribe", `{`+th+`}`)
	call("approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"once"}`, req))
	c.until("turn.completed")
	call("turn.start", `{`+th+text+`}`)
	c.until("turn.error")
	call("turn.start", `{`+th+text+`}`)
	call("turn.start", `{`+th+text+`}`)
	call("turn.steer", `{`+th+text+`}`)
	call("turn.cancel", `{`+th+`}`)
	c.until("turn.error")
	for _, m := range []string{"thread.pause", "thread.health", "thread.resume", "thread.fork", "thread.get", "thread.unsubscribe"} {
		call(m, `{`+th+`}`)
	}
	call("thread.configure", `{`+th+`,"config":{"effort":"low"}}`)
	call("thread.rewind", `{`+th+`,"messageId":"itm_1"}`)
	call("thread.list", `{"limit":1}`)
	call("thread.create", `{"title":"x"}`)
	call("rule.list", `{}`)
	call("rule.revoke", `{"ruleId":"rul_none"}`)
	for _, l := range c.seen {
		if l.Method != "" {
			check(l.Method, "Notification", []byte(l.raw))
		}
	}
	for _, m := range rpc.Methods() {
		if doc.Methods[m].Params.Ref == "" {
			t.Errorf("%s is not described", m)
		}
	}
}

// schema is as much of JSON Schema as ours uses.
type schema struct {
	Ref        string             `json:"$ref"`
	Defs       map[string]*schema `json:"$defs"`
	Methods    map[string]struct{ Params, Result schema }
	Type       any
	Const      any
	Enum       []any
	Required   []string
	Properties map[string]*schema
	Additional *schema `json:"additionalProperties"`
	MaxProps   *int    `json:"maxProperties"`
	Items      *schema
	OneOf      []*schema
	AnyOf      []*schema
	AllOf      []*schema
	Minimum    *float64
}

func (s *schema) defs(t testing.TB) map[string]*schema {
	t.Helper()
	if len(s.Defs) == 0 {
		t.Fatal("the schema declares nothing")
	}
	return s.Defs
}

func (s *schema) check(defs map[string]*schema, v any, at string) error {
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, "#/$defs/")
		if defs[name] == nil {
			return fmt.Errorf("%s: no %s", at, s.Ref)
		}
		return defs[name].check(defs, v, at+">"+name)
	}
	if s.Const != nil && s.Const != v || s.Enum != nil && !slices.Contains(s.Enum, v) {
		return fmt.Errorf("%s: %v is not %v %v", at, v, s.Const, s.Enum)
	}
	if s.Type != nil && !slices.ContainsFunc(kinds(s.Type), func(k string) bool { return isKind(v, k) }) {
		return fmt.Errorf("%s: %v is not %v", at, v, s.Type)
	}
	if n, ok := v.(float64); ok && s.Minimum != nil && n < *s.Minimum {
		return fmt.Errorf("%s: %v is too small", at, n)
	}
	if o, ok := v.(map[string]any); ok {
		for _, k := range s.Required {
			if _, ok := o[k]; !ok {
				return fmt.Errorf("%s: %s is missing", at, k)
			}
		}
		if s.MaxProps != nil && len(o) > *s.MaxProps {
			return fmt.Errorf("%s: too many properties", at)
		}
		for k, e := range o {
			p := s.Properties[k]
			if p == nil {
				p = s.Additional
			}
			if p == nil {
				continue
			}
			if err := p.check(defs, e, at+"."+k); err != nil {
				return err
			}
		}
	}
	if a, ok := v.([]any); ok && s.Items != nil {
		for i, e := range a {
			if err := s.Items.check(defs, e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	for _, x := range s.AllOf {
		if err := x.check(defs, v, at); err != nil {
			return err
		}
	}
	return s.some(defs, v, at)
}

func (s *schema) some(defs map[string]*schema, v any, at string) error {
	for _, list := range [][]*schema{s.OneOf, s.AnyOf} {
		fit := 0
		var last error
		for _, x := range list {
			if err := x.check(defs, v, at); err != nil {
				last = err
				continue
			}
			fit++
		}
		if len(list) > 0 && fit == 0 || len(s.OneOf) > 0 && fit > 1 {
			return fmt.Errorf("%s: fits %d alternatives: %v", at, fit, last)
		}
	}
	return nil
}

func kinds(t any) []string {
	if s, ok := t.(string); ok {
		return []string{s}
	}
	var list []string
	for _, e := range t.([]any) {
		list = append(list, e.(string))
	}
	return list
}

func isKind(v any, kind string) bool {
	switch v := v.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	case []any:
		return kind == "array"
	default:
		return kind == "object"
	}
}

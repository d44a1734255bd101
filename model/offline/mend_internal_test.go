package offline

import (
	"strings"
	"testing"

	"harness/model"
)

// A file that must be read before it is changed is read, and changed then; only
// the change is spoken of.
func TestAFileIsReadBeforeItIsChanged(t *testing.T) {
	t.Parallel()
	said := []model.Message{model.Say(model.User, "in a.txt replace x with y, then run `ls`")}
	tools := []model.Tool{{Name: "read"}, {Name: "edit"}, {Name: "bash"}}
	for i := range tools {
		tools[i].Schema = []byte(`{"type":"object","properties":{"path":{"type":"string"},"command":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"}}}`)
	}
	results := []model.Part{model.Result("", "a.txt was not read in this session; read it first", true), model.Result("", "x", false), model.Result("", "edited", false), model.Result("", "a.txt", false)}
	var called []string
	text := ""
	for i := 0; ; i++ {
		a := decide(&model.Request{Messages: said, Tools: tools})
		calls := 0
		for _, p := range a.pieces {
			if p.kind != model.PartCall {
				text = p.text
				continue
			}
			calls++
			called = append(called, p.name)
			r := results[len(called)-1]
			r.ID = p.id
			said = append(said, model.Message{Role: model.Assistant, Parts: []model.Part{model.Call(p.id, p.name, p.text)}}, model.Message{Role: model.User, Parts: []model.Part{r}})
		}
		if calls == 0 {
			break
		}
	}
	if got := strings.Join(called, " "); got != "edit read edit bash" {
		t.Errorf("called %s", got)
	}
	if strings.Contains(text, "read it first") || !strings.Contains(text, "I edited `a.txt`") {
		t.Errorf("said %q", text)
	}
}

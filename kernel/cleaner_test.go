package kernel

import (
	"reflect"
	"strings"
	"testing"

	"harness"
	"harness/internal/redact"
)

const canary = "canary-9f8e7d6c5b4a"

type redactor struct{ *redact.Redactor }

func (r redactor) Stream() TextStream { return r.Redactor.Stream() }

// TestEveryCommandIsHeardWithoutSecrets makes sure that a new command, or a new
// text of one, is not forgotten.
func TestEveryCommandIsHeardWithoutSecrets(t *testing.T) {
	t.Parallel()
	r, err := redact.New(canary)
	if err != nil {
		t.Fatal(err)
	}
	k := &Kernel{opts: Options{Redact: redactor{r}}}
	lookups := map[string]bool{"Source": true, "OnBusy": true, "Turn": true, "Approval": true, "Call": true, "Message": true, "Type": true,
		"Verdict": true, "Scope": true, "Digest": true, "PermissionMode": true, "Effort": true, "Action": true} // compared with what is there, never kept
	for _, cmd := range []harness.Command{harness.Submit{}, harness.Steer{}, harness.Cancel{}, harness.Answer{}, harness.Configure{}, harness.Rewind{}, harness.Pause{}, harness.Resume{}} {
		v := reflect.New(reflect.TypeOf(cmd)).Elem()
		fillTexts(v, canary)
		heard := k.heard(v.Interface().(harness.Command))
		each(reflect.ValueOf(heard), "", func(field, text string) {
			if !lookups[field] && strings.Contains(text, canary) {
				t.Errorf("%T.%s is kept as %q", cmd, field, text)
			}
		})
	}
}

// each calls f with every text of a value and the name of its field.
func each(v reflect.Value, field string, f func(field, text string)) {
	switch v.Kind() {
	case reflect.Pointer:
		each(v.Elem(), field, f)
	case reflect.String:
		f(field, v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), v.Type().Field(i).Name, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), field, f)
		}
	}
}

// fillTexts sets every text of a value.
func fillTexts(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillTexts(v.Elem(), text)
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() { // a time has none
				fillTexts(v.Field(i), text)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillTexts(v.Index(0), text)
	}
}

// TestWordsWithoutSecretsCostNoAllocation: with a redactor and without.
func TestWordsWithoutSecretsCostNoAllocation(t *testing.T) { // not parallel: it counts allocations
	r, err := redact.New(canary)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*cleaner{"none": newCleaner(nil, nil), "a redactor": newCleaner(redactor{r}, nil)} {
		token, log := &harness.Token{}, &harness.ToolLog{ToolCallID: "c", Stream: "stdout"}
		n := testing.AllocsPerRun(1000, func() {
			token.Text, log.Text = " with a word", "and a line of output\n"
			if before, rest := c.take(0, token); before != nil || rest.payload == nil || token.Text != " with a word" {
				t.Errorf("%q", token.Text)
			}
			if before, rest := c.take(0, log); before != nil || rest.payload == nil {
				t.Errorf("%q", log.Text)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// BenchmarkClean is what a redactor adds to a streamed word; compare with
// BenchmarkEmit.
func BenchmarkClean(b *testing.B) {
	r, err := redact.New(canary, "hk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG")
	if err != nil {
		b.Fatal(err)
	}
	words := strings.SplitAfter("The engine reads the file, edits the second line and runs the tests again; all of them pass. ", " ")
	for name, c := range map[string]*cleaner{"none": newCleaner(nil, nil), "redactor": newCleaner(redactor{r}, nil)} {
		b.Run(name, func(b *testing.B) {
			token := &harness.Token{}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				token.Text = words[i%len(words)]
				c.take(0, token)
			}
		})
	}
}

package anthropic_test

import (
	"testing"

	"harness/model"
	"harness/model/anthropic"
	"harness/model/modeltest"
)

func open(_ testing.TB, at modeltest.Target) model.Client {
	return anthropic.New(modeltest.Key, &anthropic.Options{URL: at.URL, HTTP: at.HTTP})
}

func TestClientKeepsThePromisesOfClients(t *testing.T) {
	t.Parallel()
	modeltest.Test(t, open, modeltest.Traits{})
}

func BenchmarkThousandWords(b *testing.B) { modeltest.Bench(b, open) }

func FuzzStream(f *testing.F) { modeltest.Fuzz(f, modeltest.Messages, open) }

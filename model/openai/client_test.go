package openai_test

import (
	"testing"

	"harness/model"
	"harness/model/modeltest"
	"harness/model/openai"
)

func openResponses(_ testing.TB, at modeltest.Target) model.Client {
	return openai.NewResponses(modeltest.Key, &openai.Options{URL: at.URL + "/v1", HTTP: at.HTTP})
}

func openChat(_ testing.TB, at modeltest.Target) model.Client {
	return openai.NewChat(modeltest.Key, &openai.Options{URL: at.URL + "/v1", HTTP: at.HTTP})
}

func TestResponsesKeepThePromisesOfClients(t *testing.T) {
	t.Parallel()
	modeltest.Test(t, openResponses, modeltest.Traits{})
}

func TestChatKeepsThePromisesOfClients(t *testing.T) {
	t.Parallel()
	modeltest.Test(t, openChat, modeltest.Traits{Unsigned: true})
}

func BenchmarkThousandWords(b *testing.B) {
	b.Run("Responses", func(b *testing.B) { modeltest.Bench(b, openResponses) })
	b.Run("Chat", func(b *testing.B) { modeltest.Bench(b, openChat) })
}

func FuzzResponses(f *testing.F) { modeltest.Fuzz(f, modeltest.Responses, openResponses) }

func FuzzChat(f *testing.F) { modeltest.Fuzz(f, modeltest.Chat, openChat) }

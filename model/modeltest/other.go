package modeltest

import (
	"encoding/json"
	"net/http"
)

// modelName is what the lists of models contain.
const modelName = "scripted-model"

// other answers what is not a conversation.
func (s *Server) other(w http.ResponseWriter, r *http.Request, path string, req *Request) {
	anthropic := r.Header.Get("Anthropic-Version") != "" || r.Header.Get("X-Api-Key") != ""
	var entry json.RawMessage
	if anthropic {
		entry = obj("type", "model", "id", modelName, "display_name", "Scripted model", "created_at", "2026-01-01T00:00:00Z")
	} else {
		entry = obj("id", modelName, "object", "model", "created", madeUp, "owned_by", "modeltest")
	}
	w.Header().Set("Content-Type", "application/json")
	var answer json.RawMessage
	switch {
	case r.Method == http.MethodPost && path == "/messages/count_tokens":
		answer = obj("input_tokens", (len(req.Body)+3)/4)
	case r.Method == http.MethodGet && path == "/models" && anthropic:
		answer = obj("data", list(entry), "has_more", false, "first_id", modelName, "last_id", modelName)
	case r.Method == http.MethodGet && path == "/models":
		answer = obj("object", "list", "data", list(entry))
	case r.Method == http.MethodGet && path == "/models/"+modelName:
		answer = entry
	case path == "/" || path == "" || path == "/api/hello": // a client that looks whether somebody is there
		answer = obj()
	default:
		sp := &speaker{dialect: dialectOf(Chat), req: req}
		if anthropic {
			sp.dialect = messages{}
		}
		complain(w, sp, http.StatusNotFound, "there is nothing at "+path)
		return
	}
	w.Write(answer) // a client that left has seen enough
}

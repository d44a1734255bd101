package rpc

import (
	"reflect"

	"harness/internal/shape"
)

// notifications are the server's messages, by method.
var notifications = []struct {
	method string
	params reflect.Type
}{
	{"thread.created", reflect.TypeFor[threadCreated]()},
	{"thread.spawned", reflect.TypeFor[threadSpawned]()},
	{"turn.started", reflect.TypeFor[turnStarted]()},
	{"turn.completed", reflect.TypeFor[turnEnded]()},
	{"turn.error", reflect.TypeFor[turnEnded]()},
	{"item.started", reflect.TypeFor[itemStarted]()},
	{"item.delta", reflect.TypeFor[itemDelta]()},
	{"item.completed", reflect.TypeFor[itemCompleted]()},
	{"approval.requested", reflect.TypeFor[approvalRequested]()},
}

// itemData is what an item's data may be.
var itemData = []reflect.Type{
	reflect.TypeFor[userData](), reflect.TypeFor[assistantData](), reflect.TypeFor[toolData](),
	reflect.TypeFor[approvalData](), reflect.TypeFor[replyData](), reflect.TypeFor[artifactData](),
}

// own describes what JSON Schema has no word for: an event, and an item's data.
func own(t reflect.Type) (*shape.Type, bool) {
	switch {
	case t == reflect.TypeFor[event]():
		return &shape.Type{Kind: "event"}, true
	case t.Kind() == reflect.Interface:
		return &shape.Type{Kind: "data"}, true
	}
	return nil, false
}

// protocolShapes declares everything, and says what each method takes and gives.
func protocolShapes() (all map[string]*shape.Type, takes, gives, tells map[string]*shape.Type) {
	set := &shape.Set{Named: map[string]*shape.Type{}, Own: own}
	takes, gives, tells = map[string]*shape.Type{}, map[string]*shape.Type{}, map[string]*shape.Type{}
	for _, m := range methods() {
		takes[m.name] = set.Taken(m.takes, m.params)
		gives[m.name] = set.Sent(m.gives)
	}
	for _, n := range notifications {
		tells[n.method] = set.Sent(n.params)
	}
	for _, t := range itemData {
		set.Sent(t)
	}
	set.Sent(reflect.TypeFor[rpcError]())
	return set.Named, takes, gives, tells
}

package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"
)

// defined is a tool whose input is a T.
type defined[T any] struct {
	spec func() Spec // the same each time
	plan func(env *Env, in *T) (Plan, error)
	run  func(ctx context.Context, env *Env, in *T) (Result, error)
}

// define makes a tool of what it takes, what a call would touch, and what it does.
func define[T any](name, description string,
	plan func(env *Env, in *T) (Plan, error),
	run func(ctx context.Context, env *Env, in *T) (Result, error),
) *defined[T] {
	spec := sync.OnceValue(func() Spec { return Spec{name, description, schemaOf(reflect.TypeFor[T]())} })
	return &defined[T]{spec, plan, run}
}

func (d *defined[T]) Spec() Spec { return d.spec() }

func (d *defined[T]) Plan(env *Env, input json.RawMessage) (Plan, error) {
	in, err := decode[T](input)
	if err != nil {
		return Plan{}, err
	}
	return d.plan(env, in)
}

func (d *defined[T]) Run(ctx context.Context, env *Env, input json.RawMessage) (Result, error) {
	in, err := decode[T](input)
	if err != nil {
		return Result{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return Result{}, err
	}
	return d.run(ctx, env, in)
}

// data is v as a result's Data.
func data(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("tool: " + err.Error())
	}
	return raw
}

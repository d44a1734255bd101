package rest

import (
	"context"
	"fmt"
	"net/http"

	"harness"
)

// onName is a part's thing that is known by its name.
type onName struct {
	Name string `json:"name" rule:"required id"`
}

// part is something that a server need not have; lacks says that it has not.
func part[P any](p P, lacks string) (P, error) {
	if any(p) == nil {
		return p, fmt.Errorf("%s: %w", lacks, harness.ErrUnsupported)
	}
	return p, nil
}

// listed is all that a part has; none is an empty list.
func listed[P, T any](ctx context.Context, part func() (P, error), all func(P, context.Context) ([]T, error)) ([]T, error) {
	p, err := part()
	if err != nil {
		return nil, err
	}
	list, err := all(p, ctx)
	if list == nil {
		list = []T{}
	}
	return list, err
}

// removed takes a thing from a part.
func removed[P any](w http.ResponseWriter, r *http.Request, part func() (P, error), remove func(P, context.Context, string) error, name string) error {
	p, err := part()
	if err == nil {
		err = remove(p, r.Context(), name)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

package rest

import (
	"context"
	"iter"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/memory"
)

// hasty is a server whose questions are answered between its list and a look at
// the session.
type hasty struct{ *kernel.Kernel }

func (h hasty) List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error] {
	f.Statuses = nil
	return h.Kernel.List(ctx, f)
}

// A page of the inbox whose questions were answered meanwhile is short; what
// comes behind it is not lost.
func TestAnsweredQuestionsDoNotEndTheInbox(t *testing.T) {
	t.Parallel()
	h := build(t, memory.New(), "ask bash {} => ok", kernel.Options{IdleAfter: time.Minute}, feedOptions{})
	asking := h.create("")
	h.submit(asking, "go")
	eventually(t, "it asks", func() bool { return len(h.log(asking, kindBits["approval_required"])) == 1 })
	for range 7 {
		h.create("")
	}
	s := &Server{k: hasty{h.k}}
	found, pages := 0, 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		page, err := s.listApprovals(t.Context(), &approvalQuery{Limit: 2, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		found, cursor = found+len(page.Approvals), page.Next
	}
	if found != 1 || pages != 4 {
		t.Errorf("%d questions on %d pages", found, pages)
	}
}

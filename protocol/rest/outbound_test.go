package rest_test

import (
	"context"
	"testing"
	"time"

	"harness"
	"harness/protocol/rest"
	"harness/schedule"
)

// clockwork is schedules as a server has them that asks nobody who it is.
type clockwork struct{ *schedule.Scheduler }

func (c clockwork) Schedules(context.Context) (list []rest.Schedule, err error) {
	for _, s := range c.List() {
		list = append(list, asked(s))
	}
	return list, nil
}

func asked(s schedule.Schedule) rest.Schedule {
	return rest.Schedule{ScheduleID: s.ID, When: s.When, Zone: s.Zone, Overlap: string(s.Overlap), Missed: string(s.Missed), Prompt: s.Prompt, CreatedAt: s.Created}
}

func (c clockwork) AddSchedule(_ context.Context, _ string, n rest.NewSchedule) (rest.Schedule, error) {
	s, err := c.Add(schedule.Schedule{ID: "sch_" + n.Name, When: n.When, Zone: n.Zone, Overlap: schedule.Overlap(n.Overlap), Prompt: n.Prompt})
	return asked(s), err
}

func (c clockwork) RemoveSchedule(_ context.Context, id string) error { return c.Remove(id) }

func (c clockwork) RunSchedule(ctx context.Context, id, key string) (harness.SessionID, error) {
	return c.Run(ctx, id, key)
}

// mailbox is webhooks that nobody is sent.
type mailbox map[string]rest.Webhook

func (m mailbox) Webhooks(context.Context) (list []rest.Webhook, err error) {
	for _, h := range m {
		list = append(list, h)
	}
	return list, nil
}

func (m mailbox) AddWebhook(_ context.Context, n rest.NewWebhook) (rest.Webhook, error) {
	if _, there := m[n.Name]; there {
		return rest.Webhook{}, harness.ErrExists
	}
	m[n.Name] = rest.Webhook{Name: n.Name, URL: n.URL, On: []string{"completed"}, CreatedAt: new(time.Now())}
	return m[n.Name], nil
}

func (m mailbox) RemoveWebhook(_ context.Context, name string) error {
	if _, there := m[name]; !there {
		return harness.ErrNotFound
	}
	delete(m, name)
	return nil
}

func (m mailbox) TryWebhook(_ context.Context, name string) (rest.Tried, error) {
	if _, there := m[name]; !there {
		return rest.Tried{}, harness.ErrNotFound
	}
	return rest.Tried{Delivered: true, ElapsedMS: 3}, nil
}

// newClock is schedules of a server beside the one that is tested.
func newClock(t testing.TB) clockwork {
	t.Helper()
	clock, err := schedule.Open(serve(t, "say hi").k, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { clock.Close() })
	return clockwork{clock}
}

// A server without schedules and webhooks says so.
func TestWithoutSchedulesAndWebhooks(t *testing.T) {
	t.Parallel()
	bare := serve(t, "say hi")
	for _, path := range []string{"/schedules", "/webhooks", "/tokens"} {
		bare.refused(501, "unsupported", "", "GET", path, "")
		bare.refused(501, "unsupported", "", "DELETE", path+"/x", "")
	}
	bare.refused(501, "unsupported", "", "POST", "/schedules", `{"when":"@daily","prompt":"x"}`)
	bare.refused(501, "unsupported", "", "POST", "/schedules/x/run", "")
	bare.refused(501, "unsupported", "", "POST", "/webhooks/x/test", "")
	bare.refused(501, "unsupported", "", "DELETE", "/tokens/x", "")
	bare.refused(501, "unsupported", "", "POST", "/tokens", `{"name":"x","role":"admin"}`)
	bare.refused(501, "unsupported", "", "POST", "/webhooks", `{"name":"x","url":"https://example.com"}`)
}

// outbound calls every operation about schedules and webhooks, well and badly.
func (s *server) outbound(clock clockwork) {
	s.t.Helper()
	s.must(201, nil, "POST", "/schedules", `{"name":"x","when":"0 9 * * *","zone":"Europe/Berlin","overlap":"queue","prompt":"go"}`)
	s.refused(409, "exists", "", "POST", "/schedules", `{"name":"x","when":"@daily","prompt":"go"}`)
	s.must(200, nil, "GET", "/schedules", "")
	s.must(200, nil, "POST", "/schedules/sch_x/run", "", "Idempotency-Key", "k")
	s.must(204, nil, "DELETE", "/schedules/sch_x", "")
	s.refused(404, "not_found", "", "DELETE", "/schedules/sch_x", "")
	s.refused(404, "not_found", "", "POST", "/schedules/sch_x/run", "")
	for field, body := range map[string]string{
		"prompt": `{"when":"@daily"}`, "when": `{"prompt":"x"}`, "overlap": `{"when":"@daily","prompt":"x","overlap":"wait"}`,
		"missed": `{"when":"@daily","prompt":"x","missed":"maybe"}`, "permission_mode": `{"when":"@daily","prompt":"x","permission_mode":"yolo"}`,
	} {
		s.refused(400, "invalid", field, "POST", "/schedules", body)
	}
	s.refused(400, "invalid", "", "POST", "/schedules", `{"when":"0 0 30 2 *","prompt":"x"}`)
	s.must(201, nil, "POST", "/webhooks", `{"name":"x","url":"https://example.com","on":"failed"}`)
	s.refused(409, "exists", "", "POST", "/webhooks", `{"name":"x","url":"https://example.com"}`)
	s.refused(400, "invalid", "url", "POST", "/webhooks", `{"name":"x"}`)
	s.must(200, nil, "GET", "/webhooks", "")
	s.must(200, nil, "POST", "/webhooks/x/test", "")
	s.must(204, nil, "DELETE", "/webhooks/x", "")
	s.refused(404, "not_found", "", "POST", "/webhooks/x/test", "")
	s.refused(404, "not_found", "", "DELETE", "/webhooks/x", "")
	for _, path := range []string{"/schedules", "/webhooks"} {
		s.refused(406, "not_acceptable", "", "GET", path, "", "Accept", "text/html")
	}
	if n := len(clock.List()); n != 0 {
		s.t.Errorf("%d schedules are left", n)
	}
}

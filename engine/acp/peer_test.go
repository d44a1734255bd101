package acp_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	sdk "github.com/coder/acp-go-sdk"
)

// peer is an agent made with the protocol's Go SDK, which is other people's
// reading of the same schema: it checks every message that it is sent. It says
// which mode and model it is in, in the way of agents that are older than
// options.
type peer struct {
	sdk.Agent // what nobody asks for
	how       string
	conn      *sdk.AgentSideConnection
	dir       string
	mode      sdk.SessionModeId
	model     sdk.UnstableModelId
	trusted   bool // somebody has authenticated
}

// serveSDK is the agent; how is what is special about it.
func serveSDK(how string) int {
	p := &peer{how: how, mode: "ask", model: "small", trusted: how != "locked"}
	p.conn = sdk.NewAgentSideConnection(p, os.Stdout, os.Stdin)
	<-p.conn.Done()
	return 0
}

func (p *peer) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{
		ProtocolVersion:   sdk.ProtocolVersionNumber,
		AgentCapabilities: sdk.AgentCapabilities{LoadSession: true},
		AuthMethods:       []sdk.AuthMethod{{Agent: &sdk.AuthMethodAgent{Id: "key", Name: "A key"}}, {Agent: &sdk.AuthMethodAgent{Id: "browser", Name: "A page"}}},
	}, nil
}

func (p *peer) Authenticate(_ context.Context, r sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	if r.MethodId != "key" {
		return sdk.AuthenticateResponse{}, sdk.NewInvalidParams("no display for " + r.MethodId)
	}
	p.trusted = true
	return sdk.AuthenticateResponse{}, nil
}

// remembered is where the agent notes that there is a conversation.
func remembered() string {
	home, _ := os.UserHomeDir()
	return filepath.Join(home, "remembered")
}

func (p *peer) NewSession(_ context.Context, r sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if !p.trusted {
		return sdk.NewSessionResponse{}, sdk.NewAuthRequired(nil)
	}
	p.dir = r.Cwd
	modes, models := p.choices()
	return sdk.NewSessionResponse{SessionId: "s", Modes: modes, Models: models}, os.WriteFile(remembered(), nil, 0o600)
}

func (p *peer) LoadSession(ctx context.Context, r sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	p.dir = r.Cwd
	if _, err := os.Stat(remembered()); err != nil {
		return sdk.LoadSessionResponse{}, sdk.NewInvalidParams("no such session")
	}
	modes, models := p.choices()
	return sdk.LoadSessionResponse{Modes: modes, Models: models}, p.tell(ctx, sdk.UpdateAgentMessageText("what was said before"))
}

func (p *peer) choices() (*sdk.SessionModeState, *sdk.SessionModelState) {
	return &sdk.SessionModeState{CurrentModeId: p.mode, AvailableModes: []sdk.SessionMode{{Id: "ask", Name: "Ask"}, {Id: "plan", Name: "Plan"}, {Id: "broken", Name: "Broken"}}},
		&sdk.SessionModelState{CurrentModelId: sdk.ModelId(p.model), AvailableModels: []sdk.ModelInfo{{ModelId: "small", Name: "Small"}, {ModelId: "big", Name: "Big"}}}
}

func (p *peer) SetSessionMode(_ context.Context, r sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	if r.ModeId == "broken" {
		return sdk.SetSessionModeResponse{}, sdk.NewInternalError("out of order")
	}
	p.mode = r.ModeId
	return sdk.SetSessionModeResponse{}, nil
}

// UnstableSetSessionModel is session/set_model, which the protocol has given up.
func (p *peer) UnstableSetSessionModel(_ context.Context, r sdk.UnstableSetSessionModelRequest) (sdk.UnstableSetSessionModelResponse, error) {
	p.model = r.ModelId
	return sdk.UnstableSetSessionModelResponse{}, nil
}

// Cancel has nothing to do: the prompt's context ends.
func (p *peer) Cancel(context.Context, sdk.CancelNotification) error { return nil }

func (p *peer) tell(ctx context.Context, u sdk.SessionUpdate) error {
	return p.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: "s", Update: u})
}

func (p *peer) say(ctx context.Context, text string) error {
	return p.tell(ctx, sdk.UpdateAgentMessageText(text))
}

// Prompt does what it is told.
func (p *peer) Prompt(ctx context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	verb, rest, _ := strings.Cut(r.Prompt[0].Text.Text, " ")
	var err error
	switch verb {
	case "long":
		err = p.say(ctx, "working")
		<-ctx.Done()
	case "work":
		err = p.work(ctx)
	case "write":
		err = p.write(ctx, rest)
	case "run":
		err = p.run(ctx, rest)
	default:
		err = p.say(ctx, "in "+string(p.mode)+" with "+string(p.model))
	}
	if ctx.Err() != nil {
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn, Usage: &sdk.Usage{InputTokens: 10, OutputTokens: 7, TotalTokens: 17}}, err
}

// work thinks, plans, and makes a call that it asks about.
func (p *peer) work(ctx context.Context) error {
	for _, u := range []sdk.SessionUpdate{
		sdk.UpdateAgentThoughtText("hm"),
		sdk.UpdatePlan(sdk.PlanEntry{Content: "look", Priority: sdk.PlanEntryPriorityHigh, Status: sdk.PlanEntryStatusInProgress}),
		sdk.StartToolCall("c", "make it", sdk.WithStartKind(sdk.ToolKindExecute), sdk.WithStartStatus(sdk.ToolCallStatusPending), sdk.WithStartRawInput(map[string]any{"command": "make"})),
	} {
		if err := p.tell(ctx, u); err != nil {
			return err
		}
	}
	got, err := p.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
		SessionId: "s", ToolCall: sdk.ToolCallUpdate{ToolCallId: "c"},
		Options: []sdk.PermissionOption{{Kind: sdk.PermissionOptionKindAllowOnce, Name: "Yes", OptionId: "y"}, {Kind: sdk.PermissionOptionKindRejectOnce, Name: "No", OptionId: "n"}},
	})
	if err != nil {
		return err
	}
	status, output := sdk.ToolCallStatusFailed, "refused"
	if s := got.Outcome.Selected; s != nil && s.OptionId == "y" {
		status, output = sdk.ToolCallStatusCompleted, "made"
	}
	return cmp.Or(p.tell(ctx, sdk.UpdateToolCall("c", sdk.WithUpdateStatus(status), sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(output))}))), p.say(ctx, output))
}

// write writes a file of the workspace through its client, and reads it.
func (p *peer) write(ctx context.Context, name string) error {
	path := filepath.Join(p.dir, name)
	if _, err := p.conn.WriteTextFile(ctx, sdk.WriteTextFileRequest{SessionId: "s", Path: path, Content: "one\ntwo\n"}); err != nil {
		return p.say(ctx, err.Error())
	}
	got, err := p.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: "s", Path: path, Line: sdk.Ptr(2)})
	if err != nil {
		return err
	}
	return p.say(ctx, "it says "+got.Content)
}

// run runs a command in a terminal of its client.
func (p *peer) run(ctx context.Context, line string) error {
	made, err := p.conn.CreateTerminal(ctx, sdk.CreateTerminalRequest{SessionId: "s", Command: "/bin/sh", Args: []string{"-c", line}, Cwd: &p.dir})
	if err != nil {
		return p.say(ctx, err.Error())
	}
	end, err := p.conn.WaitForTerminalExit(ctx, sdk.WaitForTerminalExitRequest{SessionId: "s", TerminalId: made.TerminalId})
	if err != nil {
		return err
	}
	out, err := p.conn.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: "s", TerminalId: made.TerminalId})
	if err != nil {
		return err
	}
	if _, err := p.conn.ReleaseTerminal(ctx, sdk.ReleaseTerminalRequest{SessionId: "s", TerminalId: made.TerminalId}); err != nil {
		return err
	}
	if end.ExitCode == nil || *end.ExitCode != 0 {
		return p.say(ctx, "it failed")
	}
	return p.say(ctx, "it printed "+out.Output)
}

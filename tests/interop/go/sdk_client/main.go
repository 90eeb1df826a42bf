// The official Go SDK as client of the hub.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interop/scenario"
)

type client struct {
	session  *mcp.ClientSession
	changed  chan struct{}
	tokens   atomic.Int64
	progress sync.Map // token to func(scenario.Progress)
}

func (c *client) Version() string          { return c.session.InitializeResult().ProtocolVersion }
func (c *client) CanCancel() string        { return "" }
func (c *client) Changed() <-chan struct{} { return c.changed }
func (c *client) Close() error             { return c.session.Close() }

func (c *client) Tools(ctx context.Context) (names []string, err error) {
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, t.Name)
	}
	return names, nil
}

func (c *client) Call(ctx context.Context, name string, args map[string]any, progress func(scenario.Progress)) (string, bool, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	if args == nil {
		params.Arguments = map[string]any{}
	}
	if progress != nil {
		token := fmt.Sprint("token ", c.tokens.Add(1))
		c.progress.Store(token, progress)
		params.SetProgressToken(token)
	}
	r, err := c.session.CallTool(ctx, params)
	if err != nil {
		return "", false, err
	}
	text := ""
	for _, part := range r.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, r.IsError, nil
}

func (c *client) Resources(ctx context.Context) (uris []string, err error) {
	for r, err := range c.session.Resources(ctx, nil) {
		if err != nil {
			return nil, err
		}
		uris = append(uris, r.URI)
	}
	return uris, nil
}

func (c *client) Templates(ctx context.Context) (uris []string, err error) {
	for r, err := range c.session.ResourceTemplates(ctx, nil) {
		if err != nil {
			return nil, err
		}
		uris = append(uris, r.URITemplate)
	}
	return uris, nil
}

func (c *client) Read(ctx context.Context, uri string) (string, error) {
	r, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	return r.Contents[0].Text, nil
}

func (c *client) Prompts(ctx context.Context) (names []string, err error) {
	for p, err := range c.session.Prompts(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, p.Name)
	}
	return names, nil
}

func (c *client) Prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	r, err := c.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	return r.Messages[0].Content.(*mcp.TextContent).Text, nil
}

// bearer adds the token to every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func connect(ctx context.Context, transport, era string) (scenario.Client, error) {
	c := &client{changed: make(chan struct{}, 1000)}
	sdk := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			content := scenario.AnswerForm(r.Params.Message)
			if content == nil {
				return &mcp.ElicitResult{Action: "decline"}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: content}, nil
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "test", Content: &mcp.TextContent{Text: scenario.ModelSays}}, nil
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.changed <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			if f, ok := c.progress.Load(r.Params.ProgressToken); ok {
				f.(func(scenario.Progress))(scenario.Progress{Progress: r.Params.Progress, Total: r.Params.Total, Message: r.Params.Message})
			}
		},
	})
	sdk.AddRoots(&mcp.Root{URI: scenario.Root, Name: "srv"})
	options := &mcp.ClientSessionOptions{}
	if era == "legacy" {
		options.ProtocolVersion = "2025-11-25"
	}
	var way mcp.Transport
	if transport == "stdio" {
		command, args := scenario.HubCommand()
		way = &mcp.CommandTransport{Command: exec.Command(command, args...)}
	} else {
		url, token := scenario.HubURL()
		way = &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}}
	}
	var err error
	c.session, err = sdk.Connect(ctx, way, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func main() { scenario.ActOut("go-sdk", connect) }

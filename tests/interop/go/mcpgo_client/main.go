// mark3labs/mcp-go as client of the hub.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	sdk "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"interop/scenario"
)

type client struct {
	sdk       *sdk.Client
	version   string
	canCancel string
	changed   chan struct{}
	tokens    atomic.Int64
	progress  sync.Map // token to func(scenario.Progress)
}

func (c *client) Version() string          { return c.version }
func (c *client) CanCancel() string        { return c.canCancel }
func (c *client) Changed() <-chan struct{} { return c.changed }
func (c *client) Close() error             { return c.sdk.Close() }

func (c *client) Tools(ctx context.Context) (names []string, err error) {
	r, err := c.sdk.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}

func (c *client) Call(ctx context.Context, name string, args map[string]any, progress func(scenario.Progress)) (string, bool, error) {
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments = name, args
	if progress != nil {
		token := fmt.Sprint("token ", c.tokens.Add(1))
		c.progress.Store(token, progress)
		r.Params.Meta = &mcp.Meta{ProgressToken: token}
	}
	result, err := c.sdk.CallTool(ctx, r)
	if err != nil {
		return "", false, err
	}
	text := ""
	for _, part := range result.Content {
		if t, ok := part.(mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, result.IsError, nil
}

func (c *client) Resources(ctx context.Context) (uris []string, err error) {
	r, err := c.sdk.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return nil, err
	}
	for _, one := range r.Resources {
		uris = append(uris, one.URI)
	}
	return uris, nil
}

func (c *client) Templates(ctx context.Context) (uris []string, err error) {
	r, err := c.sdk.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
	if err != nil {
		return nil, err
	}
	for _, one := range r.ResourceTemplates {
		uris = append(uris, one.URITemplate.Raw())
	}
	return uris, nil
}

func (c *client) Read(ctx context.Context, uri string) (string, error) {
	var r mcp.ReadResourceRequest
	r.Params.URI = uri
	result, err := c.sdk.ReadResource(ctx, r)
	if err != nil {
		return "", err
	}
	return result.Contents[0].(mcp.TextResourceContents).Text, nil
}

func (c *client) Prompts(ctx context.Context) (names []string, err error) {
	r, err := c.sdk.ListPrompts(ctx, mcp.ListPromptsRequest{})
	if err != nil {
		return nil, err
	}
	for _, one := range r.Prompts {
		names = append(names, one.Name)
	}
	return names, nil
}

func (c *client) Prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	var r mcp.GetPromptRequest
	r.Params.Name, r.Params.Arguments = name, args
	result, err := c.sdk.GetPrompt(ctx, r)
	if err != nil {
		return "", err
	}
	return result.Messages[0].Content.(mcp.TextContent).Text, nil
}

type person struct{}

func (person) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	answer := &mcp.ElicitationResult{}
	answer.Action = mcp.ElicitationResponseActionDecline
	if content := scenario.AnswerForm(r.Params.Message); content != nil {
		answer.Action, answer.Content = mcp.ElicitationResponseActionAccept, content
	}
	return answer, nil
}

func (person) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	said := mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(scenario.ModelSays)}
	return &mcp.CreateMessageResult{SamplingMessage: said, Model: "test"}, nil
}

func (person) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: scenario.Root, Name: "srv"}}}, nil
}

func (c *client) hears(n mcp.JSONRPCNotification) {
	switch n.Method {
	case "notifications/tools/list_changed":
		c.changed <- struct{}{}
	case "notifications/progress":
		var p struct {
			ProgressToken   string
			Progress, Total float64
			Message         string
		}
		raw, _ := json.Marshal(n.Params)
		if json.Unmarshal(raw, &p) != nil {
			return
		}
		if f, ok := c.progress.Load(p.ProgressToken); ok {
			f.(func(scenario.Progress))(scenario.Progress{Progress: p.Progress, Total: p.Total, Message: p.Message})
		}
	}
}

func connect(ctx context.Context, way, era string) (scenario.Client, error) {
	c := &client{changed: make(chan struct{}, 1000)}
	var carrier transport.Interface
	if way == "stdio" {
		command, args := scenario.HubCommand()
		carrier = transport.NewStdio(command, os.Environ(), args...)
	} else {
		url, token := scenario.HubURL()
		options := []transport.StreamableHTTPCOption{
			transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + token}),
		}
		if era == "legacy" { // the SDK speaks no other era with this
			options = append(options, transport.WithContinuousListening())
		}
		http, err := transport.NewStreamableHTTP(url, options...)
		if err != nil {
			return nil, err
		}
		carrier = http
	}
	options := []sdk.ClientOption{
		sdk.WithElicitationHandler(person{}), sdk.WithSamplingHandler(person{}), sdk.WithRootsHandler(person{}),
	}
	if era == "legacy" {
		options = append(options, sdk.WithLegacyProtocolOnly())
		if way == "http" {
			c.canCancel = "over HTTP it sends no notifications/cancelled in the old era"
		}
	}
	c.sdk = sdk.NewClient(carrier, options...)
	c.sdk.OnNotification(c.hears)
	if err := c.sdk.Start(ctx); err != nil {
		return nil, err
	}
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcp-go", Version: "1"}
	if era == "legacy" {
		hello.Params.ProtocolVersion = "2025-11-25"
	}
	r, err := c.sdk.Initialize(ctx, hello)
	if err != nil {
		return nil, err
	}
	c.version = r.ProtocolVersion
	if era == "modern" {
		go c.sdk.Listen(ctx, mcp.SubscriptionFilter{ToolsListChanged: true})
	}
	return c, nil
}

func main() { scenario.ActOut("mcp-go", connect) }

// mark3labs/mcp-go as a probe server: mcpgo_server NAME [PORT]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"interop/scenario"
)

var (
	name    = os.Args[1]
	cancels atomic.Int64
	srv     *server.MCPServer
)

type handler = func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error)

func says(text string) (*mcp.CallToolResult, error) { return mcp.NewToolResultText(text), nil }

func tell(ctx context.Context, r mcp.CallToolRequest, progress, total int, message string) {
	if r.Params.Meta == nil || r.Params.Meta.ProgressToken == nil {
		return
	}
	srv.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
		"progressToken": r.Params.Meta.ProgressToken, "progress": progress, "total": total, "message": message,
	})
}

func add(name string, f handler, options ...mcp.ToolOption) {
	srv.AddTool(mcp.NewTool(name, options...), f)
}

func addTools() {
	add("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return says("echo: " + r.GetString("text", ""))
	}, mcp.WithString("text", mcp.Required()))
	add("fail", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("it failed"), nil
	})
	add("progress", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		steps := r.GetInt("steps", 0)
		for i := 1; i <= steps; i++ {
			tell(ctx, r, i, steps, fmt.Sprint("step ", i))
			// This SDK writes notifications from a queue of their own, over HTTP on either of two streams: without
			// a pause they overtake each other, and the result overtakes them.
			time.Sleep(100 * time.Millisecond)
		}
		return says("done")
	}, mcp.WithNumber("steps", mcp.Required()))
	add("hang", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		tell(ctx, r, 0, 1, "begun")
		<-ctx.Done()
		cancels.Add(1)
		return nil, ctx.Err()
	})
	add("cancelled", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return says(strconv.FormatInt(cancels.Load(), 10))
	})
	add("grow", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("grown", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return says("I am new") })
		return says("grown")
	})
	add("shrink", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		srv.DeleteTools("grown")
		return says("shrunk")
	})
}

// The SDK asks as a request of its own when the client is old.
func addQuestions() {
	add("ask_name", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer := server.ElicitationResponse(r.Params.InputResponses, "q")
		if answer == nil {
			return server.NewInputRequestBuilder("").Elicit("q", mcp.ElicitationParams{
				Mode: mcp.ElicitationModeForm, Message: r.GetString("message", ""), RequestedSchema: json.RawMessage(scenario.Person),
			}).ToolResult(), nil
		}
		if answer.Action != mcp.ElicitationResponseActionAccept {
			return says("declined")
		}
		content, _ := answer.Content.(map[string]any)
		return says(fmt.Sprint("hello ", content["name"]))
	}, mcp.WithString("message", mcp.Required()))
	add("ask_model", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer := server.SamplingResponse(r.Params.InputResponses, "q")
		if answer == nil {
			question := mcp.SamplingMessage{Role: mcp.RoleUser, Content: mcp.NewTextContent("The capital of France?")}
			params := mcp.CreateMessageParams{MaxTokens: 10, Messages: []mcp.SamplingMessage{question}}
			return server.NewInputRequestBuilder("").Sample("q", params).ToolResult(), nil
		}
		return says("model: " + mcp.GetTextFromContent(answer.Content))
	})
	add("ask_roots", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer := server.RootsResponse(r.Params.InputResponses, "q")
		if answer == nil {
			return server.NewInputRequestBuilder("").Roots("q").ToolResult(), nil
		}
		uris := make([]string, len(answer.Roots))
		for i, root := range answer.Roots {
			uris[i] = root.URI
		}
		return says("roots: " + strings.Join(uris, " "))
	})
}

func addRest() {
	contents := func(uri, text string) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: text}}, nil
	}
	srv.AddResource(mcp.NewResource("probe://"+name+"/fixed", "fixed"),
		func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return contents(r.Params.URI, "fixed text")
		})
	srv.AddResourceTemplate(mcp.NewResourceTemplate("probe://"+name+"/item/{id}", "item"),
		func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return contents(r.Params.URI, "item "+r.Params.URI[strings.LastIndex(r.Params.URI, "/")+1:])
		})
	srv.AddPrompt(mcp.NewPrompt("greet", mcp.WithArgument("name", mcp.RequiredArgument())),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := mcp.NewTextContent("Greet " + r.Params.Arguments["name"])
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, text)}), nil
		})
}

func main() {
	srv = server.NewMCPServer(name, "1", server.WithToolCapabilities(true), server.WithResourceCapabilities(false, true),
		server.WithPromptCapabilities(true), server.WithElicitation(), server.WithRoots())
	srv.EnableSampling()
	addTools()
	addQuestions()
	addRest()
	var err error
	if len(os.Args) > 2 {
		err = server.NewStreamableHTTPServer(srv).Start("127.0.0.1:" + os.Args[2])
	} else {
		err = server.ServeStdio(srv)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// The official Go SDK as a probe server: sdk_server NAME [PORT]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interop/scenario"
)

var (
	name    = os.Args[1]
	cancels atomic.Int64
	server  *mcp.Server
)

type none struct{}

func says(text string) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// asks puts one question; the SDK asks it as a request when the client is old.
func asks(question mcp.InputRequest) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": question}}, nil, nil
}

func tell(ctx context.Context, r *mcp.CallToolRequest, progress, total float64, message string) {
	if token := r.Params.GetProgressToken(); token != nil {
		r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: progress, Total: total, Message: message,
		})
	}
}

type echoArgs struct {
	Text string `json:"text"`
}
type progressArgs struct {
	Steps int `json:"steps"`
}
type askArgs struct {
	Message string `json:"message"`
}

func addTools() {
	mcp.AddTool(server, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, a echoArgs) (*mcp.CallToolResult, any, error) {
		return says("echo: " + a.Text)
	})
	mcp.AddTool(server, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("it failed")
	})
	mcp.AddTool(server, &mcp.Tool{Name: "progress"}, func(ctx context.Context, r *mcp.CallToolRequest, a progressArgs) (*mcp.CallToolResult, any, error) {
		for i := 1; i <= a.Steps; i++ {
			tell(ctx, r, float64(i), float64(a.Steps), fmt.Sprint("step ", i))
		}
		return says("done")
	})
	mcp.AddTool(server, &mcp.Tool{Name: "hang"}, func(ctx context.Context, r *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		tell(ctx, r, 0, 1, "begun")
		<-ctx.Done()
		cancels.Add(1)
		return nil, nil, ctx.Err()
	})
	mcp.AddTool(server, &mcp.Tool{Name: "cancelled"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return says(strconv.FormatInt(cancels.Load(), 10))
	})
	mcp.AddTool(server, &mcp.Tool{Name: "grow"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		mcp.AddTool(server, &mcp.Tool{Name: "grown"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
			return says("I am new")
		})
		return says("grown")
	})
	mcp.AddTool(server, &mcp.Tool{Name: "shrink"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		server.RemoveTools("grown")
		return says("shrunk")
	})
}

func addQuestions() {
	mcp.AddTool(server, &mcp.Tool{Name: "ask_name"}, func(_ context.Context, r *mcp.CallToolRequest, a askArgs) (*mcp.CallToolResult, any, error) {
		answer, ok := r.Params.InputResponses["q"].(*mcp.ElicitResult)
		if !ok {
			return asks(&mcp.ElicitParams{Message: a.Message, RequestedSchema: json.RawMessage(scenario.Person)})
		}
		if answer.Action != "accept" {
			return says("declined")
		}
		return says(fmt.Sprint("hello ", answer.Content["name"]))
	})
	mcp.AddTool(server, &mcp.Tool{Name: "ask_model"}, func(_ context.Context, r *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		switch answer := r.Params.InputResponses["q"].(type) {
		case *mcp.CreateMessageResult:
			return says("model: " + answer.Content.(*mcp.TextContent).Text)
		case *mcp.CreateMessageWithToolsResult:
			return says("model: " + answer.Content[0].(*mcp.TextContent).Text)
		}
		question := &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: "The capital of France?"}}
		return asks(&mcp.CreateMessageParams{MaxTokens: 10, Messages: []*mcp.SamplingMessage{question}})
	})
	mcp.AddTool(server, &mcp.Tool{Name: "ask_roots"}, func(_ context.Context, r *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		answer, ok := r.Params.InputResponses["q"].(*mcp.ListRootsResult)
		if !ok {
			return asks(&mcp.ListRootsParams{})
		}
		uris := make([]string, len(answer.Roots))
		for i, root := range answer.Roots {
			uris[i] = root.URI
		}
		return says("roots: " + strings.Join(uris, " "))
	})
}

func addRest() {
	contents := func(uri, text string) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text}}}, nil
	}
	server.AddResource(&mcp.Resource{Name: "fixed", URI: "probe://" + name + "/fixed"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(r.Params.URI, "fixed text")
		})
	server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "item", URITemplate: "probe://" + name + "/item/{id}"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(r.Params.URI, "item "+r.Params.URI[strings.LastIndex(r.Params.URI, "/")+1:])
		})
	server.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := &mcp.TextContent{Text: "Greet " + r.Params.Arguments["name"]}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: text}}}, nil
		})
}

func main() {
	server = mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	addTools()
	addQuestions()
	addRest()
	if len(os.Args) < 3 {
		if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Print(err)
		}
		return
	}
	// Over HTTP this SDK speaks the new era only without sessions, and asks in the old one only with them.
	// A closed stream, which is how a call is cancelled in the new era, reaches the handler when told to.
	options := &mcp.StreamableHTTPOptions{Stateless: strings.HasSuffix(name, "-modern"), PropagateRequestCancellation: true}
	http.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
}

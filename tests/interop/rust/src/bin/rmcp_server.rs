//! rmcp as a probe server: rmcp_server NAME [PORT]
#![allow(deprecated)] // sampling and roots are on their way out of the protocol, and still in use

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, SubscriptionContext},
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::broadcast;

#[derive(Clone)]
struct Probe {
    name: String,
    cancels: Arc<AtomicUsize>,
    grown: Arc<AtomicBool>,
    changed: broadcast::Sender<()>,
}

type Answer = Result<CallToolResponse, ErrorData>;

fn made<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|e| ErrorData::internal_error(e.to_string(), None))
}

fn says(text: impl Into<String>) -> Answer {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

fn wrong(e: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(e.to_string(), None)
}

async fn tell(context: &RequestContext<RoleServer>, progress: usize, total: usize, message: String) {
    if let Some(token) = context.meta.get_progress_token() {
        let progress = ProgressNotificationParam::new(token, progress as f64)
            .with_total(total as f64)
            .with_message(message);
        let _ = context.peer.notify_progress(progress).await;
    }
}

fn tool(name: &str, argument: Option<(&str, &str)>) -> Value {
    let mut schema = json!({ "type": "object", "properties": {} });
    if let Some((argument, kind)) = argument {
        schema["properties"][argument] = json!({ "type": kind });
        schema["required"] = json!([argument]);
    }
    json!({ "name": name, "inputSchema": schema })
}

impl Probe {
    async fn list_has_changed(&self, context: &RequestContext<RoleServer>) {
        let _ = self.changed.send(()); // whoever listens (new era)
        if !modern(context) {
            let _ = context.peer.notify_tool_list_changed().await;
        }
    }

    /// One question, in the way of the era; what came back, when it did.
    async fn ask(
        &self,
        question: InputRequest,
        answers: Option<InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<Value, CallToolResponse>, ErrorData> {
        if modern(context) {
            if let Some(answer) = answers.and_then(|mut a| a.remove("q")) {
                return made(json!(answer)).map(Ok);
            }
            let mut questions = InputRequests::new();
            questions.insert("q".into(), question);
            return Ok(Err(InputRequiredResult::new(Some(questions), None).into()));
        }
        let answer = match question {
            InputRequest::Elicitation(q) => {
                json!(context.peer.create_elicitation(q.params).await.map_err(wrong)?)
            }
            InputRequest::CreateMessage(q) => {
                json!(context.peer.create_message(q.params).await.map_err(wrong)?)
            }
            _ => json!(context.peer.list_roots().await.map_err(wrong)?),
        };
        Ok(Ok(answer))
    }
}

fn modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|v| v >= ProtocolVersion::V_2026_07_28)
}

fn text_of(content: &Value) -> &str {
    let one = if content.is_array() { &content[0] } else { content };
    one["text"].as_str().unwrap_or_default()
}

impl ServerHandler for Probe {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(can).with_server_info(Implementation::new(self.name.clone(), "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = vec![
            tool("echo", Some(("text", "string"))),
            tool("progress", Some(("steps", "integer"))),
            tool("ask_name", Some(("message", "string"))),
        ];
        for name in ["fail", "hang", "cancelled", "ask_model", "ask_roots", "grow", "shrink"] {
            tools.push(tool(name, None));
        }
        if self.grown.load(SeqCst) {
            tools.push(tool("grown", None));
        }
        let tools: Vec<Tool> = made(json!(tools))?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Answer {
        let arguments = json!(request.arguments);
        match request.name.as_ref() {
            "echo" => says(format!("echo: {}", arguments["text"].as_str().unwrap_or_default())),
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("it failed")]).into()),
            "progress" => {
                let steps = arguments["steps"].as_u64().unwrap_or_default() as usize;
                for i in 1..=steps {
                    tell(&context, i, steps, format!("step {i}")).await;
                }
                says("done")
            }
            "hang" => {
                tell(&context, 0, 1, "begun".into()).await;
                context.ct.cancelled().await;
                self.cancels.fetch_add(1, SeqCst);
                Err(wrong("cancelled"))
            }
            "cancelled" => says(self.cancels.load(SeqCst).to_string()),
            "ask_name" => {
                let question = json!({ "mode": "form", "message": arguments["message"], "requestedSchema": {
                    "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] } });
                let question = InputRequest::Elicitation(ElicitRequest::new(made(question)?));
                match self.ask(question, request.input_responses, &context).await? {
                    Err(asked) => Ok(asked),
                    Ok(answer) if answer["action"] == "accept" => {
                        says(format!("hello {}", answer["content"]["name"].as_str().unwrap_or_default()))
                    }
                    Ok(_) => says("declined"),
                }
            }
            "ask_model" => {
                let asked = vec![SamplingMessage::user_text("The capital of France?")];
                let question = CreateMessageRequest::new(CreateMessageRequestParams::new(asked, 10));
                let question = InputRequest::CreateMessage(question);
                match self.ask(question, request.input_responses, &context).await? {
                    Err(asked) => Ok(asked),
                    Ok(answer) => says(format!("model: {}", text_of(&answer["content"]))),
                }
            }
            "ask_roots" => {
                let question = InputRequest::ListRoots(ListRootsRequest::default());
                match self.ask(question, request.input_responses, &context).await? {
                    Err(asked) => Ok(asked),
                    Ok(answer) => {
                        let roots: ListRootsResult = made(answer)?;
                        let uris: Vec<_> = roots.roots.into_iter().map(|r| r.uri).collect();
                        says(format!("roots: {}", uris.join(" ")))
                    }
                }
            }
            "grow" | "shrink" => {
                self.grown.store(request.name == "grow", SeqCst);
                self.list_has_changed(&context).await;
                says("changed")
            }
            "grown" if self.grown.load(SeqCst) => says("I am new"),
            other => Err(ErrorData::invalid_params(format!("there is no tool {other}"), None)),
        }
    }

    fn accepted_subscription_filter(&self, wanted: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(wanted.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changed = self.changed.subscribe();
        loop {
            tokio::select! {
                _ = context.cancelled() => return Ok(()),
                news = changed.recv() => {
                    if news.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        made(json!({ "resources": [{ "name": "fixed", "uri": format!("probe://{}/fixed", self.name) }] }))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = format!("probe://{}/item/{{id}}", self.name);
        made(json!({ "resourceTemplates": [{ "name": "item", "uriTemplate": template }] }))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let start = format!("probe://{}/", self.name);
        let text = match request.uri.strip_prefix(&start) {
            Some("fixed") => "fixed text".to_string(),
            Some(rest) if rest.starts_with("item/") => rest.replace("item/", "item "),
            _ => return Err(ErrorData::resource_not_found("there is no such resource", None)),
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        made(json!({ "prompts": [{ "name": "greet", "arguments": [{ "name": "name", "required": true }] }] }))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let name = json!(request.arguments)["name"].as_str().unwrap_or_default().to_string();
        let message = PromptMessage::new_text(Role::User, format!("Greet {name}"));
        Ok(GetPromptResult::new(vec![message]).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let probe = Probe {
        name: arguments.next().ok_or("rmcp_server NAME [PORT]")?,
        cancels: Default::default(),
        grown: Default::default(),
        changed: broadcast::channel(16).0,
    };
    let Some(port) = arguments.next() else {
        probe.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    // It sees that a client has closed a stream, and so cancelled, when it writes the next sign of life.
    let config = StreamableHttpServerConfig::default().with_sse_keep_alive(Some(Duration::from_millis(500)));
    let service: StreamableHttpService<Probe, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(probe.clone()), Default::default(), config);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}

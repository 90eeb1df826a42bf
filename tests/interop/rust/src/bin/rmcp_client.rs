//! rmcp as client of the hub. It does what tests/interop/README.md says, with every probe server.
#![allow(deprecated)] // sampling and roots are on their way out of the protocol, and still in use

use std::{
    collections::HashMap,
    env::var,
    fmt::Debug,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient,
    model::*,
    service::{NotificationContext, PeerRequestOptions, RequestContext, RequestHandle, RunningService},
    transport::{
        StreamableHttpClientTransport, TokioChildProcess,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, Semaphore},
    time::timeout,
};

const LIMIT: Duration = Duration::from_secs(30); // a check that takes longer has failed
const STARTS: Duration = Duration::from_secs(120); // until all servers behind the hub are there
const TOOLS: [&str; 10] = [
    "ask_model", "ask_name", "ask_roots", "cancelled", "echo", "fail", "grow", "hang", "progress", "shrink",
];
const MANY: usize = 20;
const MODEL_SAYS: &str = "Paris";
const ROOT: &str = "file:///srv/interop";

type Fact = Result<(), String>;
type Seen = HashMap<String, Vec<(f64, f64, String)>>;

fn words(e: impl Debug) -> String {
    format!("{e:?}")
}

fn same<T: PartialEq + Debug>(got: T, wanted: T) -> Fact {
    if got == wanted { Ok(()) } else { Err(format!("got {got:?}, wanted {wanted:?}")) }
}

#[derive(Clone)]
struct Person {
    legacy: bool,
    changed: Arc<Semaphore>,
    progress: Arc<Mutex<Seen>>,
    told: Arc<Notify>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientInfo {
        let can = ClientCapabilities::builder().enable_elicitation().enable_sampling().enable_roots().build();
        let mut info = ClientInfo::new(can, Implementation::new("rmcp", "1"));
        if self.legacy {
            info.protocol_version = ProtocolVersion::V_2025_11_25;
        }
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let no = json!(request)["message"].as_str().is_some_and(|m| m.contains("decline"));
        let answer = if no {
            json!({ "action": "decline" })
        } else {
            json!({ "action": "accept", "content": { "name": "Ada" } })
        };
        serde_json::from_value(answer).map_err(|e| ErrorData::internal_error(e.to_string(), None))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let said = json!({ "role": "assistant", "model": "test", "content": { "type": "text", "text": MODEL_SAYS } });
        serde_json::from_value(said).map_err(|e| ErrorData::internal_error(e.to_string(), None))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new(ROOT)]))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.add_permits(1);
    }

    async fn on_progress(&self, p: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let one = (p.progress, p.total.unwrap_or_default(), p.message.unwrap_or_default());
        self.progress.lock().unwrap().entry(words(&p.progress_token)).or_default().push(one);
        self.told.notify_one();
    }
}

struct Client(RunningService<RoleClient, Person>);

fn request(name: String, arguments: Value) -> CallToolRequestParams {
    let mut request = CallToolRequestParams::new(name);
    request.arguments = arguments.as_object().cloned();
    request
}

fn text_of(r: &CallToolResult) -> (String, bool) {
    let content = json!(r.content);
    let texts: Vec<_> = content.as_array().unwrap().iter().filter_map(|c| c["text"].as_str()).collect();
    (texts.join("\n"), r.is_error == Some(true))
}

/// Asks the hub again until the answer is yes; the caller's time limit ends it.
async fn until<F: Future<Output = Result<bool, String>>>(mut fact: impl FnMut() -> F) -> Fact {
    while !fact().await? {}
    Ok(())
}

impl Client {
    async fn tools(&self) -> Result<Vec<String>, String> {
        let tools = self.0.peer().list_all_tools().await.map_err(words)?;
        Ok(tools.into_iter().map(|t| t.name.to_string()).collect())
    }

    async fn call(&self, name: String, arguments: Value) -> Result<(String, bool), String> {
        let result = self.0.call_tool(request(name, arguments)).await.map_err(words)?;
        Ok(text_of(&result))
    }

    async fn says(&self, name: String, arguments: Value, wanted: &str) -> Fact {
        same(self.call(name, arguments).await?, (wanted.into(), false))
    }

    async fn begin(&self, name: String, arguments: Value) -> Result<RequestHandle<RoleClient>, String> {
        let call = ClientRequest::CallToolRequest(Request::new(request(name, arguments)));
        self.0.peer().send_cancellable_request(call, PeerRequestOptions::no_options()).await.map_err(words)
    }

    /// What was told of a call, once it is so many.
    async fn told(&self, token: &str, wanted: usize) -> Vec<(f64, f64, String)> {
        loop {
            let heard = self.0.service().told.notified();
            let mut seen = self.0.service().progress.lock().unwrap().get(token).cloned().unwrap_or_default();
            if seen.len() >= wanted {
                seen.sort_by(|a, b| a.0.total_cmp(&b.0)); // each is handled by a task of its own
                return seen;
            }
            heard.await;
        }
    }

    async fn read(&self, uri: String) -> Result<String, String> {
        let r = self.0.read_resource(ReadResourceRequestParams::new(uri)).await.map_err(words)?;
        Ok(json!(r)["contents"][0]["text"].as_str().unwrap_or_default().into())
    }

    async fn cancels(&self, s: &str) -> Result<usize, String> {
        self.call(format!("{s}__cancelled"), json!({})).await?.0.parse().map_err(words)
    }

    async fn cancel(&self, s: &str) -> Fact {
        let before = self.cancels(s).await?;
        let hung = self.begin(format!("{s}__hang"), json!({})).await?;
        self.told(&words(&hung.progress_token), 1).await;
        hung.cancel(Some("not wanted any more".into())).await.map_err(words)?;
        until(async || Ok(self.cancels(s).await? == before + 1)).await
    }

    async fn progress(&self, s: &str) -> Fact {
        let call = self.begin(format!("{s}__progress"), json!({ "steps": 3 })).await?;
        let token = words(&call.progress_token);
        match call.await_response().await.map_err(words)? {
            ServerResult::CallToolResult(r) => same(text_of(&r), ("done".into(), false))?,
            other => return Err(words(other)),
        }
        let wanted = (1..=3).map(|i| (i as f64, 3.0, format!("step {i}"))).collect();
        same(self.told(&token, 3).await, wanted)
    }

    async fn list_changed(&self, s: &str) -> Fact {
        let grown = format!("{s}__grown");
        let changed = &self.0.service().changed;
        changed.forget_permits(usize::MAX);
        for (tool, there) in [("grow", true), ("shrink", false)] {
            self.call(format!("{s}__{tool}"), json!({})).await?;
            until(async || {
                changed.acquire().await.map_err(words)?.forget();
                Ok(self.tools().await?.contains(&grown) == there)
            })
            .await?;
            if there {
                self.says(grown.clone(), json!({}), "I am new").await?;
            }
        }
        Ok(())
    }

    async fn resources(&self, s: &str) -> Fact {
        let (fixed, item) = (format!("probe://{s}/fixed"), format!("probe://{s}/item/{{id}}"));
        let listed = self.0.peer().list_all_resources().await.map_err(words)?;
        same(listed.iter().any(|r| r.uri == fixed), true)?;
        let listed = self.0.peer().list_all_resource_templates().await.map_err(words)?;
        same(listed.iter().any(|r| r.uri_template == item), true)?;
        same(self.read(fixed).await?, "fixed text".into())?;
        same(self.read(format!("probe://{s}/item/7")).await?, "item 7".into())
    }

    async fn prompts(&self, s: &str) -> Fact {
        let name = format!("{s}__greet");
        let listed = self.0.peer().list_all_prompts().await.map_err(words)?;
        same(listed.iter().any(|p| p.name == name), true)?;
        let mut asked = GetPromptRequestParams::new(name);
        asked.arguments = json!({ "name": "Ada" }).as_object().cloned();
        let got = json!(self.0.get_prompt(asked).await.map_err(words)?);
        same(got["messages"][0]["content"]["text"].as_str(), Some("Greet Ada"))
    }

    async fn many(&self, s: &str) -> Fact {
        let peer = self.0.peer();
        let calls: Vec<_> = (0..MANY)
            .map(|i| {
                let (peer, asked) = (peer.clone(), request(format!("{s}__echo"), json!({ "text": i.to_string() })));
                tokio::spawn(async move { peer.call_tool_once(asked).await.map_err(words) })
            })
            .collect();
        for (i, call) in calls.into_iter().enumerate() {
            match call.await.map_err(words)?? {
                CallToolResponse::Complete(r) => same(text_of(&r), (format!("echo: {i}"), false))?,
                other => return Err(words(other)),
            }
        }
        Ok(())
    }

    async fn unknown(&self, s: &str) -> Fact {
        let said = match self.call(format!("{s}__no_such_tool"), json!({})).await {
            Ok((_, false)) => return Err("a tool that does not exist answered".into()),
            Ok((said, true)) | Err(said) => said,
        };
        same(said.contains("no_such_tool"), true)
    }

    async fn check(&self, what: &str, s: &str) -> Fact {
        let tool = |name: &str| format!("{s}__{name}");
        match what {
            "tools" => {
                let all = self.tools().await?;
                let mut mine: Vec<_> = all.iter().filter_map(|n| n.strip_prefix(&format!("{s}__"))).collect();
                mine.sort();
                same(mine, TOOLS.to_vec())
            }
            "call" => self.says(tool("echo"), json!({ "text": "häuser ✓" }), "echo: häuser ✓").await,
            "many calls" => self.many(s).await,
            "error result" => {
                let (said, is_error) = self.call(tool("fail"), json!({})).await?;
                if is_error && said.contains("it failed") { Ok(()) } else { Err(format!("error {is_error}: {said}")) }
            }
            "unknown tool" => self.unknown(s).await,
            "progress" => self.progress(s).await,
            "cancel" => self.cancel(s).await,
            "elicitation" => self.says(tool("ask_name"), json!({ "message": "who?" }), "hello Ada").await,
            "elicitation declined" => {
                self.says(tool("ask_name"), json!({ "message": "please decline" }), "declined").await
            }
            "sampling" => self.says(tool("ask_model"), json!({}), &format!("model: {MODEL_SAYS}")).await,
            "roots" => self.says(tool("ask_roots"), json!({}), &format!("roots: {ROOT}")).await,
            "resources" => self.resources(s).await,
            "unknown resource" => same(self.read(format!("probe://{s}/nowhere")).await.is_err(), true),
            "prompts" => self.prompts(s).await,
            "list_changed" => self.list_changed(s).await,
            other => Err(format!("there is no check {other}")),
        }
    }
}

const CHECKS: [&str; 15] = [
    "tools", "call", "many calls", "error result", "unknown tool", "progress", "cancel", "elicitation",
    "elicitation declined", "sampling", "roots", "resources", "unknown resource", "prompts", "list_changed",
];

struct Report {
    label: String,
    failed: bool,
}

impl Report {
    fn note(&mut self, what: &str, fact: Fact) {
        match fact {
            Ok(()) => println!("ok - {} {what}", self.label),
            Err(why) => {
                self.failed = true;
                println!("# {}\nnot ok - {} {what}", why.replace('\n', "\n# "), self.label);
            }
        }
    }
}

async fn connect(transport: &str, person: Person) -> Result<RunningService<RoleClient, Person>, String> {
    let lifecycle = if person.legacy {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None }
    };
    if transport == "stdio" {
        let mut command = tokio::process::Command::new(var("PATCHBAY").map_err(words)?);
        command.args(["mcp", "--standalone", "--config", &var("INTEROP_CONFIG").map_err(words)?]);
        let child = TokioChildProcess::new(command).map_err(words)?;
        return person.serve_with_lifecycle(child, lifecycle).await.map_err(words);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(var("INTEROP_URL").map_err(words)?)
        .auth_header(var("INTEROP_TOKEN").map_err(words)?);
    let http = StreamableHttpClientTransport::from_config(config);
    person.serve_with_lifecycle(http, lifecycle).await.map_err(words)
}

async fn all(report: &mut Report, client: &Client, legacy: bool) {
    let servers = var("INTEROP_SERVERS").unwrap_or_default();
    let servers: Vec<_> = servers.split_whitespace().collect();
    let version = client.0.peer().peer_info().map(|i| i.protocol_version.clone());
    report.note("era", same(version.is_some_and(|v| v >= ProtocolVersion::V_2026_07_28), !legacy));
    let there = until(async || {
        let names = client.tools().await?;
        Ok(servers.iter().all(|s| names.contains(&format!("{s}__echo"))))
    });
    report.note("all servers are there", timeout(STARTS, there).await.unwrap_or_else(|e| Err(words(e))));
    if !legacy {
        let filter = serde_json::from_value(json!({ "toolsListChanged": true })).unwrap();
        match client.0.peer().listen(filter).await {
            Ok(mut subscription) => {
                let changed = client.0.service().changed.clone();
                tokio::spawn(async move {
                    while let Ok(Some(_)) = subscription.next().await {
                        changed.add_permits(1);
                    }
                });
            }
            Err(e) => report.note("listens", Err(words(e))),
        }
    }
    for s in servers {
        for what in CHECKS {
            let fact = timeout(LIMIT, client.check(what, s)).await.unwrap_or_else(|e| Err(words(e)));
            report.note(&format!("{s}: {what}"), fact);
        }
    }
}

#[tokio::main]
async fn main() {
    let (transport, era) = (var("INTEROP_TRANSPORT").unwrap(), var("INTEROP_ERA").unwrap());
    let legacy = era == "legacy";
    let mut report = Report { label: format!("rmcp client, {era}, {transport}:"), failed: false };
    let person = Person {
        legacy,
        changed: Arc::new(Semaphore::new(0)),
        progress: Default::default(),
        told: Default::default(),
    };
    match connect(&transport, person).await {
        Err(e) => report.note("connects", Err(e)),
        Ok(client) => {
            let client = Client(client);
            all(&mut report, &client, legacy).await;
            report.note("ends", client.0.cancel().await.map(drop).map_err(words));
        }
    }
    std::process::exit(report.failed as i32);
}

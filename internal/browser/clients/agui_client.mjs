import { HttpAgent } from "@ag-ui/client";

export class PawlAgent extends HttpAgent {
  // after a reload: await agent.load(); then agent.connectAgent() if it returns true
  async load() {
    const res = await this.fetch(`${this.url}/messages?thread=${encodeURIComponent(this.threadId)}`, { headers: this.headers });
    if (!res.ok) return false; // the thread is new
    const { messages, interrupts, running } = await res.json();
    this.setMessages(messages);
    this.pendingInterrupts = interrupts ?? [];
    return running;
  }
  connect(input) {
    const agent = new HttpAgent({ url: `${this.url}/connect`, threadId: this.threadId, headers: this.headers, fetch: this.fetch });
    agent.abortController = this.abortController;
    return agent.run(input);
  }
  abortRun() { // stops the run; detachActiveRun only stops reading
    this.fetch(`${this.url}/cancel`, {
      method: "POST",
      headers: { ...this.headers, "Content-Type": "application/json" },
      body: JSON.stringify({ thread: this.threadId }),
    });
    super.abortRun();
  }
}

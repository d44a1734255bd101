import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import type { HarnessClient } from "../src/client.js";
import type { DeltaMessage, HarnessState, StateMessage } from "../src/protocol.gen.js";
import { Dice } from "./dice.js";
import { type FakeSocket, settle, stage } from "./fake.js";

/** A session of the shared vectors: frames, and the view behind each. */
interface Session {
  frames: (StateMessage | DeltaMessage)[];
  views: HarnessState[];
}

function sessions(): Session[] {
  const list: Session[] = [];
  for (const line of readFileSync(new URL("testdata/vectors.jsonl", process.env.HARNESS_TEST_ROOT), "utf8").trimEnd().split("\n")) {
    // Twice: a number that JavaScript does not have is another one when it is sent again.
    const [frame, view] = JSON.parse(JSON.stringify(JSON.parse(line))) as [StateMessage | DeltaMessage, HarnessState];
    if (frame.type === "state") list.push({ frames: [frame], views: [frame.state] });
    else (list.at(-1)!.frames.push(frame), list.at(-1)!.views.push(view));
  }
  return list;
}

/** A server that plays a session, to a client whose lines break at any time. */
class Player {
  at = 0; // the newest frame there is

  constructor(
    readonly session: Session,
    readonly dice: Dice,
  ) {}

  /** What a new line is told: what is missing, if it may go on, else everything. */
  greet(line: FakeSocket): void {
    const { frames, views } = this.session;
    const since = Number(line.query.get("since"));
    const from = frames.findIndex((f) => f.seq === since);
    if (from >= 0 && from <= this.at && this.dice.pick(3) > 0) {
      line.hb(since);
      for (let i = from + 1; i <= this.at; i++) line.tell(frames[i]!);
    } else {
      line.tell({ type: "state", seq: frames[this.at]!.seq, state: views[this.at] });
    }
  }
}

test("after any frames, breaks, gaps, sleeps and paints, the client has a view of the server, in the end the newest", async (t) => {
  let steps = 0;
  for (const [n, session] of sessions().entries()) {
    for (let seed = 0; seed < 6; seed++) {
      const dice = new Dice(100 * n + seed);
      const s = stage(seed % 2 ? { schedule: "sync" } : {});
      const player = new Player(session, dice);
      player.greet(s.socket());
      let known = 1;
      const catchUp = async () => {
        await settle();
        for (; known < s.sockets.length; known++) if (known === s.sockets.length - 1) player.greet(s.sockets[known]!);
      };
      while (player.at < session.frames.length - 1) {
        steps++;
        switch (dice.pick(9)) {
          case 0:
            s.socket().break(dice.of([1001, 1006, 1013]));
            break;
          case 1:
            s.host.sleep(60_000);
            break;
          case 2:
            s.host.wake();
            break;
          case 3: // a frame is lost, and the next heartbeat tells
            player.at++;
            s.socket().hb(session.frames[player.at]!.seq);
            break;
          case 4:
            s.host.advance(dice.pick(3_000));
            break;
          case 5:
            s.host.paint();
            break;
          default:
            player.at++;
            if (!s.socket().closed) s.socket().tell(session.frames[player.at]!);
        }
        await catchUp();
        isView(s.client, session);
      }
      for (let i = 0; i < 5; i++) {
        s.host.advance(3_000);
        await catchUp();
        s.socket().hb(session.frames.at(-1)!.seq);
        await catchUp();
      }
      s.host.paint();
      assert.equal(s.client.getConnection().phase, "open");
      assert.equal(s.client.seq, session.frames.at(-1)!.seq);
      isView(s.client, session);
      s.client.close();
      assert.equal(s.host.timers, 0);
    }
  }
  t.diagnostic(`${steps} steps`);
});

function isView(client: HarnessClient, session: Session): void {
  const { error, pendingApprovals, ...rest } = client.getState()!;
  const state = { ...rest, ...(error && { error }), ...(pendingApprovals?.length && { pendingApprovals }) };
  const at = session.frames.findIndex((f) => f.seq === client.seq);
  const { error: e, pendingApprovals: p, ...other } = session.views[at]!;
  assert.deepEqual(state, { ...other, ...(e && { error: e }), ...(p?.length && { pendingApprovals: p }) });
}

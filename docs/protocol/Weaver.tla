------------------------------- MODULE Weaver -------------------------------
(* Copyright (c) The tfweaver authors                                        *)
(* SPDX-License-Identifier: MPL-2.0                                          *)
(*                                                                           *)
(* The coordination protocol: sessions submit provider calls, the            *)
(* coordinator admits, delays or refuses them, and the cloud sees what was   *)
(* started. The program's own state machine is internal/core/admission; a    *)
(* comment "command: X" names the command there that an action stands for,   *)
(* and a test keeps the two lists of commands and states equal.              *)
(*                                                                           *)
(* Left out: guards on versions and lives (an action Stale stands for their  *)
(* effect), declared objects, views, and the text of reports.                *)
EXTENDS Naturals, Integers, FiniteSets

CONSTANTS
  Session,     \* who
  Call,        \* every call that any plan foresees
  Node,        \* lockable things
  Bucket,      \* counts
  Owner,       \* Owner[c]: the session whose call c is
  Before,      \* Before[c]: the calls that the plan orders directly before c
  Group,       \* Group[c]: calls with the same value belong together; 0 for none
  Lock,        \* Lock[c][n]: the mode that c asks for on n, ancestors included
  Effect,      \* Effect[c][b]: what c adds to b, or frees where negative
  Touch,       \* Touch[c]: the objects that c writes; ground truth, not locks
  Limit, Use0, \* of each bucket: the limit, and what is in use at first
  Policy       \* Policy[s]: "queue" or "reject"

VARIABLES
  status,    \* of each call
  ticket,    \* place in the queue, 0 for none
  next,      \* the next ticket
  token,     \* the fencing token of each call, 0 for none
  last,      \* the last token given
  claims,    \* sets of calls that hold together what they will need
  reserved,  \* sessions whose plan's capacity is reserved
  rank,      \* rank[s]: the ticket of the reservation, 0 for none
  used,      \* confirmed use of each bucket
  limit,
  alive,     \* sessions that have a lease
  sender,    \* sessions whose processes may still send
  flight,    \* calls that may be taking effect in the cloud
  epoch, leads, \* epochs of the journal; leads[e]: e still believes it leads
  log        \* what is journalled: a set of <<epoch, index>>

vars == <<status, ticket, next, token, last, claims, reserved, rank, used,
          limit, alive, sender, flight, epoch, leads, log>>

Status == {"unsent", "queued", "admitted", "actioning", "uncertain",
           "operational", "failed", "rejected", "stale", "withdrawn"}
Final == {"operational", "failed", "rejected", "withdrawn"}
Holding == {"admitted", "actioning", "uncertain"}
Mode == {"NL", "IS", "IX", "S", "SIX", "X"}

Compatible(a, b) ==
  \/ a = "NL" \/ b = "NL"
  \/ a = "IS" /\ b # "X"
  \/ b = "IS" /\ a # "X"
  \/ a = "IX" /\ b = "IX"
  \/ a = "S" /\ b = "S"

Sum(S, f(_)) ==
  LET RECURSIVE add(_)
      add(T) == IF T = {} THEN 0
                ELSE LET x == CHOOSE y \in T : TRUE IN f(x) + add(T \ {x})
  IN add(S)
Max(S) == CHOOSE x \in S : \A y \in S : y <= x

-----------------------------------------------------------------------------
(* Order within a plan *)

Unfinished(c) == status[c] \notin Final

RECURSIVE Above(_)
Above(c) == Before[c] \cup UNION {Above(p) : p \in Before[c]}

Ready(c) == \A p \in Before[c] : status[p] = "operational"
Dead(c)  == \E p \in Above(c) : status[p] \in Final \ {"operational"}
Mates(c) == IF Group[c] = 0 THEN {c} ELSE {d \in Call : Group[d] = Group[c] /\ Owner[d] = Owner[c]}

(* The claim of a call: what belongs with it, everything that the plan orders
   between, and everything unfinished that any of these is ordered after. *)
RECURSIVE Close(_)
Close(S) ==
  LET more == S \cup {p \in Call : Unfinished(p) /\ \E c \in S : p \in Above(c)}
                \cup {c \in Call : Unfinished(c) /\ \E a, z \in S : a \in Above(c) /\ c \in Above(z)}
                \cup UNION {Mates(c) \cap {d \in Call : Unfinished(d)} : c \in S}
  IN IF more = S THEN S ELSE Close(more)

ClaimOf(c) == IF Group[c] = 0 THEN {} ELSE Close({c})
Inside(c) == \E C \in claims : c \in C

-----------------------------------------------------------------------------
(* Locks *)

(* What is in the way of the calls S of one session: calls that hold, and what
   active claims of others will need. *)
Clash(S, d) == \E c \in S, n \in Node : ~Compatible(Lock[c][n], Lock[d][n])
HeldBy(s) == {d \in Call : status[d] \in Holding /\ Owner[d] = s}
ForeignCalls(s) == {d \in Call : status[d] \in Holding /\ Owner[d] # s}
ForeignClaims(s) == UNION {C \in claims : \A c \in C : Owner[c] # s}

FreeFor(c, S) ==
  /\ \A d \in ForeignCalls(Owner[c]) : ~Clash(S \cup {c}, d)
  /\ \A d \in ForeignClaims(Owner[c]) : Unfinished(d) => ~Clash(S \cup {c}, d)
  /\ \A d \in HeldBy(Owner[c]) \ {c} : ~Clash({c}, d)

(* Capacity (escrow): above and below what is in use, whatever becomes of the
   calls in flight; a reservation holds the peak of its plan, here the sum of
   what its unfinished calls add. *)
Plus(c, b)  == IF Effect[c][b] > 0 THEN Effect[c][b] ELSE 0
Minus(c, b) == IF Effect[c][b] < 0 THEN 0 - Effect[c][b] ELSE 0
Drawn(b) == {c \in Call : status[c] \in Holding \/ (Owner[c] \in reserved /\ Unfinished(c) /\ ~Dead(c))}
Sup(b) == used[b] + Sum(Drawn(b), LAMBDA c : Plus(c, b))
Inf(b) == used[b] - Sum({c \in Call : status[c] \in {"actioning", "uncertain"} \/ Inside(c) /\ Unfinished(c)},
                        LAMBDA c : Minus(c, b))
Fits(S) == \A b \in Bucket : Sum(S, LAMBDA c : Plus(c, b)) = 0 \/ Sup(b) + Sum(S, LAMBDA c : Plus(c, b)) <= limit[b]
Hopeless(S) == \E b \in Bucket : LET need == Sum(S, LAMBDA c : Plus(c, b)) IN need > 0 /\ Inf(b) + need > limit[b]

(* The queue *)
Place(c) == IF rank[Owner[c]] # 0 THEN rank[Owner[c]] ELSE ticket[c]
Contend(S, d) == \E b \in Bucket : Plus(d, b) > 0 /\ \E c \in S : Plus(c, b) > 0
Earlier(c, S) == {d \in Call \ (S \cup {c}) : /\ status[d] = "queued" /\ ~Inside(d)
                                              /\ \/ Place(d) < Place(c)
                                                 \/ Place(d) = Place(c) /\ ticket[d] < ticket[c]}
Behind(c, S) == \E d \in Earlier(c, S) :
  \/ Owner[d] = Owner[c] /\ Clash({c}, d)
  \/ Owner[d] # Owner[c] /\ (Clash(S \cup {c}, d) \/ (Owner[c] \notin reserved /\ Contend(S \cup {c}, d)))

Grantable(c) ==
  LET S == ClaimOf(c) IN
  IF Inside(c) THEN \A d \in HeldBy(Owner[c]) \ {c} : ~Clash({c}, d)
  ELSE FreeFor(c, S) /\ ~Behind(c, S) /\ (Owner[c] \in reserved \/ Fits(S \cup {c}))

-----------------------------------------------------------------------------
(* Actions. Each is one record of the journal: command and decision. *)

Journal == log' = log \cup {<<epoch, Cardinality(log) + 1>>}
Keep(v) == UNCHANGED v

Init ==
  /\ status = [c \in Call |-> "unsent"] /\ ticket = [c \in Call |-> 0] /\ next = 1
  /\ token = [c \in Call |-> 0] /\ last = 0 /\ claims = {}
  /\ reserved = {} /\ rank = [s \in Session |-> 0]
  /\ used = Use0 /\ limit = Limit
  /\ alive = {} /\ sender = {} /\ flight = {}
  /\ epoch = 1 /\ leads = {1} /\ log = {}

OpenSession(s) ==            \* command: OpenSession
  /\ s \notin sender /\ alive' = alive \cup {s} /\ sender' = sender \cup {s} /\ Journal
  /\ Keep(<<status, ticket, next, token, last, claims, reserved, rank, used, limit, flight, epoch, leads>>)

Admit(c) ==                  \* all locks of the call, and of its claim, in one step
  /\ status' = [status EXCEPT ![c] = "admitted"]
  /\ last' = last + 1 /\ token' = [token EXCEPT ![c] = last + 1]
  /\ claims' = IF ClaimOf(c) = {} \/ Inside(c) THEN claims
               ELSE {C \in claims : C \cap ClaimOf(c) = {}}
                    \cup {UNION ({C \in claims : C \cap ClaimOf(c) # {}} \cup {ClaimOf(c)})}

Reserve(s) ==                \* command: Submit
  /\ s \in alive /\ s \notin reserved
  /\ \A c \in Call : Owner[c] = s => status[c] \in {"unsent", "queued"}
  /\ Fits({c \in Call : Owner[c] = s}) /\ ~Hopeless({c \in Call : Owner[c] = s})
  /\ reserved' = reserved \cup {s} /\ rank' = [rank EXCEPT ![s] = next] /\ next' = next + 1 /\ Journal
  /\ Keep(<<status, ticket, token, last, claims, used, limit, alive, sender, flight, epoch, leads>>)

Submit(c) ==                 \* command: Submit
  /\ Owner[c] \in alive /\ status[c] \in {"unsent", "stale"} /\ Ready(c) /\ Journal
  /\ ticket' = [ticket EXCEPT ![c] = IF ticket[c] # 0 THEN ticket[c] ELSE next]
  /\ next' = next + 1
  /\ \/ /\ ~Dead(c) /\ (Owner[c] \in reserved \/ ~Hopeless(ClaimOf(c) \cup {c}))
        /\ status' = [status EXCEPT ![c] = "queued"]
     \/ /\ Dead(c) \/ (Owner[c] \notin reserved /\ Hopeless(ClaimOf(c) \cup {c})) \/ Policy[Owner[c]] = "reject"
        /\ status' = [status EXCEPT ![c] = "rejected"]
  /\ Keep(<<token, last, claims, reserved, rank, used, limit, alive, sender, flight, epoch, leads>>)

(* The program drains the queue in the same step that made room. Here a grant is
   an action of its own, so that a lost wake-up would show as a state in which
   Grant is enabled for ever: NoLostWakeup is fairness of Grant. *)
Grant(c) ==                  \* decision: TxAdmitted
  /\ status[c] = "queued" /\ Owner[c] \in alive /\ ~Dead(c) /\ Grantable(c)
  /\ Admit(c) /\ Journal
  /\ Keep(<<ticket, next, reserved, rank, used, limit, alive, sender, flight, epoch, leads>>)

Outdate(c) ==                \* decision: TxStaled
  /\ status[c] = "queued" /\ Grantable(c) /\ status' = [status EXCEPT ![c] = "stale"] /\ Journal
  /\ Keep(<<ticket, next, token, last, claims, reserved, rank, used, limit, alive, sender, flight, epoch, leads>>)

Refuse(c) ==                 \* decision: TxRejected
  /\ status[c] = "queued" /\ (Dead(c) \/ Owner[c] \notin reserved /\ Hopeless(ClaimOf(c) \cup {c}))
  /\ status' = [status EXCEPT ![c] = "rejected"] /\ Journal
  /\ Keep(<<ticket, next, token, last, claims, reserved, rank, used, limit, alive, sender, flight, epoch, leads>>)

Start(c) ==                  \* command: Start. The call leaves after this is journalled
  /\ status[c] = "admitted" /\ Owner[c] \in alive \cap sender
  /\ status' = [status EXCEPT ![c] = "actioning"] /\ flight' = flight \cup {c} /\ Journal
  /\ Keep(<<ticket, next, token, last, claims, reserved, rank, used, limit, alive, sender, epoch, leads>>)

(* Claims that have nothing left to do are over; so are those of a session that
   is gone, once none of their calls may be running. *)
Remaining(C, st) == \E c \in C : st[c] \notin Final
Over(st, al) == {C \in claims : \/ ~Remaining(C, st)
                                \/ /\ \A c \in C : Owner[c] \notin al
                                   /\ \A c \in C : st[c] \notin {"actioning", "uncertain"}}

Finish(c, st) ==
  /\ status' = [status EXCEPT ![c] = st] /\ claims' = claims \ Over(status', alive)

Succeed(c) ==                \* command: Complete
  /\ status[c] \in {"actioning", "uncertain"} /\ c \in flight /\ Finish(c, "operational")
  /\ used' = [b \in Bucket |-> used[b] + Effect[c][b]] /\ flight' = flight \ {c} /\ Journal
  /\ Keep(<<ticket, next, token, last, reserved, rank, limit, alive, sender, epoch, leads>>)

Fail(c) ==                   \* command: Complete
  /\ status[c] \in {"actioning", "uncertain"} /\ c \in flight /\ Finish(c, "failed")
  /\ flight' = flight \ {c} /\ Journal
  /\ Keep(<<ticket, next, token, last, reserved, rank, used, limit, alive, sender, epoch, leads>>)

Lose(c) ==                   \* command: Complete. Locks and drawn capacity stay
  /\ status[c] = "actioning" /\ status' = [status EXCEPT ![c] = "uncertain"] /\ Journal
  /\ Keep(<<ticket, next, token, last, claims, reserved, rank, used, limit, alive, sender, flight, epoch, leads>>)

Withdraw(c) ==               \* command: Withdraw
  /\ status[c] \in {"queued", "admitted"} /\ Finish(c, "withdrawn") /\ Journal
  /\ Keep(<<ticket, next, token, last, reserved, rank, used, limit, alive, sender, flight, epoch, leads>>)

(* Presence settles once the object is in a terminal state. Absence settles only
   when the sender is known to be dead and nothing can land any more. *)
Settle(c, exists) ==         \* command: Settle
  /\ status[c] = "uncertain" /\ (exists \/ Owner[c] \notin sender)
  /\ Finish(c, IF exists THEN "operational" ELSE "failed") /\ flight' = flight \ {c} /\ Journal
  /\ used' = IF exists THEN [b \in Bucket |-> used[b] + Effect[c][b]] ELSE used
  /\ Keep(<<ticket, next, token, last, reserved, rank, limit, alive, sender, epoch, leads>>)

Resolve(c) ==                \* command: Resolve. A named person's word, recorded
  /\ status[c] = "uncertain" /\ Finish(c, "failed") /\ flight' = flight \ {c} /\ Journal
  /\ Keep(<<ticket, next, token, last, reserved, rank, used, limit, alive, sender, epoch, leads>>)

(* The end of a session: what waits is withdrawn, what was admitted and not
   started as well, what is running becomes uncertain. No timer frees a lock. *)
EndOf(s) ==
  /\ alive' = alive \ {s}
  /\ status' = [c \in Call |->
       IF Owner[c] # s THEN status[c]
       ELSE CASE status[c] \in {"queued", "admitted", "stale"} -> "withdrawn"
              [] status[c] = "actioning" -> "uncertain"
              [] OTHER -> status[c]]
  /\ claims' = claims \ Over(status', alive')
  /\ reserved' = reserved \ {s} /\ rank' = [rank EXCEPT ![s] = 0] /\ Journal
  /\ Keep(<<ticket, next, token, last, used, limit, flight, epoch, leads>>)

CloseSession(s) == s \in alive /\ EndOf(s) /\ Keep(<<sender>>)   \* command: CloseSession
Expire(s) == s \in alive /\ EndOf(s) /\ Keep(<<sender>>)         \* command: Expire
Deceased(s) == s \in sender /\ EndOf(s) /\ sender' = sender \ {s} \* command: Deceased

Measure(b, l) ==             \* command: Measure. Nothing is taken back
  /\ limit' = [limit EXCEPT ![b] = l] /\ Journal
  /\ Keep(<<status, ticket, next, token, last, claims, reserved, rank, used, alive, sender, flight, epoch, leads>>)

(* These change what is known of objects and who a call is attributed to, and
   nothing of what is modelled here: *)
Note ==                      \* command: Renew, AddIntent, Declare, Observe, Pass
  /\ Journal
  /\ Keep(<<status, ticket, next, token, last, claims, reserved, rank, used, limit, alive, sender, flight, epoch, leads>>)

(* Take-over: a new epoch is written to the journal; from then on the store
   refuses what an earlier leader appends, so its answers never leave. *)
Lead ==
  /\ epoch' = epoch + 1 /\ leads' = leads \cup {epoch + 1}
  /\ Keep(<<status, ticket, next, token, last, claims, reserved, rank, used, limit, alive, sender, flight, log>>)
StepDown(e) ==
  /\ e \in leads /\ e # epoch /\ leads' = leads \ {e}
  /\ Keep(<<status, ticket, next, token, last, claims, reserved, rank, used, limit, alive, sender, flight, epoch, log>>)

Next ==
  \/ \E s \in Session : OpenSession(s) \/ Reserve(s) \/ CloseSession(s) \/ Expire(s) \/ Deceased(s)
  \/ \E c \in Call : \/ Submit(c) \/ Grant(c) \/ Outdate(c) \/ Refuse(c) \/ Start(c) \/ Succeed(c)
                     \/ Fail(c) \/ Lose(c) \/ Withdraw(c) \/ Resolve(c)
                     \/ Settle(c, TRUE) \/ Settle(c, FALSE)
  \/ \E b \in Bucket : Measure(b, limit[b]) \/ Measure(b, Limit[b])
  \/ Note \/ Lead \/ \E e \in leads : StepDown(e)

Fairness == \A c \in Call : /\ WF_vars(Grant(c)) /\ WF_vars(Refuse(c)) /\ WF_vars(Start(c))
                            /\ WF_vars(Succeed(c) \/ Fail(c)) /\ WF_vars(Resolve(c))
Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants, numbered as everywhere in the project. *)

TypeOK == /\ status \in [Call -> Status] /\ alive \subseteq sender
          /\ claims \subseteq SUBSET Call /\ flight \subseteq Call
          /\ \A c \in Call, n \in Node : Lock[c][n] \in Mode

I1_CompatibleHolders == \A c, d \in Call :
  c # d /\ status[c] \in Holding /\ status[d] \in Holding => ~Clash({c}, d)
I2_NoProviderOverlap == \A c, d \in flight : c # d => Touch[c] \cap Touch[d] = {}
I5_EscrowSup == \A b \in Bucket : limit[b] = Limit[b] => Sup(b) <= limit[b]
I8_NoRunningWithoutLock == \A c \in flight : status[c] \in {"actioning", "uncertain"}
I9_StartBeforeSend == \A c \in flight : token[c] # 0
I10_TokenMonotone == \A c, d \in Call : token[c] # 0 /\ token[c] = token[d] => c = d
I15_FencedLeader == \A r \in log : r[1] <= epoch
I21_IntentAtomic == \A C \in claims, d \in Call :
  status[d] \in Holding /\ (\A c \in C : Owner[c] # Owner[d]) =>
    \A c \in C : Unfinished(c) => ~Clash({c}, d)

(* Who waits for whom; D1 says that this has no cycle. See D1.v. *)
Waits(c, d) ==
  \/ status[c] = "unsent" /\ d \in Before[c] /\ Unfinished(d)
  \/ /\ status[c] = "queued" /\ ~Inside(c)
     /\ \/ status[d] \in Holding /\ Clash(ClaimOf(c) \cup {c}, d)
        \/ Inside(d) /\ Unfinished(d) /\ Owner[d] # Owner[c] /\ Clash(ClaimOf(c) \cup {c}, d)
        \/ d \in Earlier(c, ClaimOf(c)) /\ Clash(ClaimOf(c) \cup {c}, d)
  \/ status[c] = "queued" /\ Inside(c) /\ Owner[d] = Owner[c] /\ status[d] \in Holding /\ Clash({c}, d)
D1_NoDeadlock == \A D \in SUBSET Call :
  D # {} => \E c \in D : \A d \in D : ~Waits(c, d)

(* I12 and I13: everything that waits is decided in the end, if calls end. *)
Progress == \A c \in Call : status[c] = "queued" ~> status[c] # "queued"
=============================================================================

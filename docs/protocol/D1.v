(* Copyright (c) The tfweaver authors
   SPDX-License-Identifier: MPL-2.0 *)

(* D1: in every reachable state of the coordination protocol, no set of calls
   waits for itself. Check it with: coqc D1.v

   The model keeps what the argument needs. A call belongs to a run, whose plan
   is a partial order; [pos] is a position in one linear extension of it. What
   locks and buckets are is left open: wherever the protocol lets a call wait
   because somebody holds or earlier wants something, the model lets it wait for
   any holder and any earlier waiter. More waits than the program has can only
   make a cycle more likely. *)

From Coq Require Import Arith Bool Lia Wellfounded.

Section Protocol.

Variable call : Type.
Hypothesis call_eq : forall x y : call, {x = y} + {x <> y}.

Variable run : call -> nat.
Variable pos : call -> nat.
Variable before : call -> call -> Prop.  (* before p c: the plan orders p first *)
Hypothesis before_run : forall p c, before p c -> run p = run c.
Hypothesis before_pos : forall p c, before p c -> pos p < pos c.

Inductive status :=
| Unsent   (* the CLI has not sent it yet *)
| Dormant  (* waits for an object that another run has promised *)
| Queued   (* stands in the queue; holds nothing *)
| Aside    (* inside an active claim, waits for a running call of its own run *)
| Running  (* admitted, or its outcome is not known: it holds *)
| Ended.

Record state := State {
  st : call -> status;
  place : call -> nat;            (* in the queue; fresh tickets, or a reservation's *)
  claimed : call -> bool;         (* it is a call of an active claim *)
  awaits : call -> call -> Prop;  (* the call that will make what is promised *)
  level : nat -> nat              (* runs in the order in which promises lead *)
}.

(* ---- Who waits for whom ------------------------------------------------- *)

Definition holds (s : state) (x : call) : Prop :=
  st s x = Running \/ (claimed s x = true /\ st s x <> Ended).

Inductive waits (s : state) (x y : call) : Prop :=
| WOrder :    (* the run's own order *)
    st s x = Unsent -> before y x -> st s y <> Ended -> waits s x y
| WHolder :   (* what somebody holds, a call or a claim *)
    st s x = Queued -> holds s y -> waits s x y
| WEarlier :  (* what an earlier waiter wants *)
    st s x = Queued -> st s y = Queued -> place s y < place s x -> waits s x y
| WSibling :  (* inside a claim: a running call of the same run, nothing else *)
    st s x = Aside -> st s y = Running -> run y = run x -> waits s x y
| WPromise :
    st s x = Dormant -> awaits s x y -> st s y <> Ended -> waits s x y.

(* ---- Steps -------------------------------------------------------------- *)

Definition set_st (s : state) (x : call) (v : status) : state :=
  State (fun y => if call_eq y x then v else st s y)
        (place s) (claimed s) (awaits s) (level s).

Definition ready (s : state) (x : call) : Prop :=
  forall p, before p x -> st s p = Ended.

(* A set of calls that the plan does not order after anything unfinished outside
   it: the rule by which claims are closed. *)
Definition closed (s : state) (C : call -> bool) : Prop :=
  forall x p, C x = true -> before p x -> st s p <> Ended -> C p = true.

Definition also (C D : call -> bool) : call -> bool := fun y => C y || D y.
Definition without (C D : call -> bool) : call -> bool := fun y => C y && negb (D y).

(* A waiting call that a claim takes in leaves the queue. *)
Definition join (s : state) (C : call -> bool) (y : call) : status :=
  match C y, st s y with
  | true, Queued | true, Dormant => Aside
  | _, v => v
  end.

Inductive step (s : state) : state -> Prop :=
| Submit : forall x,        (* sent, and has to stand in the queue *)
    st s x = Unsent -> ready s x -> claimed s x = false ->
    step s (set_st s x Queued)
| SubmitInside : forall x,  (* sent, inside a claim, a sibling is in its way *)
    st s x = Unsent -> claimed s x = true -> step s (set_st s x Aside)
| Sleep : forall x (a : call -> call -> Prop) l,
                            (* needs what is promised, and closes no ring *)
    (st s x = Unsent \/ st s x = Queued) -> claimed s x = false ->
    (forall y, a x y -> l (run y) < l (run x)) ->
    (forall z y, z <> x -> st s z = Dormant -> a z y -> l (run y) < l (run z)) ->
    step s (State (fun y => if call_eq y x then Dormant else st s y)
                  (place s) (claimed s) a l)
| Wake : forall x,          (* the object is there, or the promise was lifted *)
    st s x = Dormant -> step s (set_st s x Queued)
| Grant : forall x,         (* at the first attempt, from the queue or inside *)
    st s x <> Ended -> step s (set_st s x Running)
| Claim : forall C,         (* all its locks at once; see [closed] and [join] *)
    closed s (also C (claimed s)) ->
    step s (State (join s C) (place s) (also C (claimed s)) (awaits s) (level s))
| End : forall x,           (* it succeeded, failed, was refused or withdrawn *)
    step s (set_st s x Ended)
| Release : forall D,       (* claims that are over *)
    closed s (without (claimed s) D) ->
    (forall y, D y = true -> st s y <> Aside) ->
    step s (State (st s) (place s) (without (claimed s) D) (awaits s) (level s))
| Rank : forall p,          (* a reservation is granted: its calls take its place *)
    step s (State (st s) p (claimed s) (awaits s) (level s)).

Inductive reachable : state -> Prop :=
| Start : forall p a l, reachable (State (fun _ => Unsent) p (fun _ => false) a l)
| Next : forall s t, reachable s -> step s t -> reachable t.

(* ---- Invariants --------------------------------------------------------- *)

Record good (s : state) : Prop := Good {
  is_closed : closed s (claimed s);
  aside : forall x, st s x = Aside -> claimed s x = true;
  joined : forall x, claimed s x = true -> st s x <> Queued /\ st s x <> Dormant;
  promises : forall x y, st s x = Dormant -> awaits s x y -> level s (run y) < level s (run x)
}.

(* A set that is closed stays closed while nothing that has ended begins again. *)
Lemma closed_later : forall s t C,
  closed s C -> (forall p, st t p <> Ended -> st s p <> Ended) -> closed t C.
Proof. unfold closed; intros s t C H E x p Cx B N. exact (H x p Cx B (E p N)). Qed.

Ltac at_call := simpl in *; intros;
  repeat match goal with
  | H : context [call_eq ?a ?b] |- _ => destruct (call_eq a b); subst
  | |- context [call_eq ?a ?b] => destruct (call_eq a b); subst
  end; try congruence; eauto.

Ltac at_claimed Jo := simpl in *; intros y Cy; destruct (Jo y Cy); at_call; split; congruence.

Lemma join_spec : forall s C y, C y = true ->
  join s C y <> Queued /\ join s C y <> Dormant.
Proof. unfold join; intros s C y ->. destruct (st s y); split; congruence. Qed.

Theorem invariant : forall s, reachable s -> good s.
Proof.
  induction 1 as [p a l | s t R [Cl As Jo Pr] S].
  - constructor; unfold closed; simpl; discriminate.
  - destruct S.
    + (* Submit *) constructor.
      * apply (closed_later s); at_call.
      * at_call.
      * at_claimed Jo.
      * at_call.
    + (* SubmitInside *) constructor.
      * apply (closed_later s); at_call.
      * at_call.
      * at_claimed Jo.
      * at_call.
    + (* Sleep *) constructor.
      * apply (closed_later s); at_call. destruct H; congruence.
      * at_call.
      * at_claimed Jo.
      * at_call.
    + (* Wake *) constructor.
      * apply (closed_later s); at_call.
      * at_call.
      * simpl; intros y Cy; destruct (Jo y Cy); at_call; split; congruence.
      * at_call.
    + (* Grant *) constructor.
      * apply (closed_later s); at_call.
      * at_call.
      * at_claimed Jo.
      * at_call.
    + (* Claim *) constructor.
      * apply (closed_later s); auto. simpl; unfold join. intro p.
        destruct (C p), (st s p); congruence.
      * simpl; unfold also, join; intro y. destruct (C y) eqn:E; simpl; auto.
      * simpl; unfold also; intros y Cy. destruct (C y) eqn:E.
        -- apply join_spec; assumption.
        -- unfold join. rewrite E. apply Jo. exact Cy.
      * simpl; intros x y D. apply Pr. unfold join in D.
        destruct (C x), (st s x); congruence.
    + (* End *) constructor.
      * apply (closed_later s); at_call.
      * at_call.
      * at_claimed Jo.
      * at_call.
    + (* Release *) constructor; simpl; auto.
      * unfold without; intros x A. rewrite (As x A).
        destruct (D x) eqn:E; auto. destruct (H0 x E A).
      * unfold without; intros x A. apply Jo. apply andb_prop in A. tauto.
    + (* Rank *) constructor; auto.
Qed.

(* ---- D1 ----------------------------------------------------------------- *)

(* Every wait leads to a smaller rank: running, inside a claim, in the queue,
   asleep or not sent. *)
Inductive rank := Rk (class a b : nat).

Definition lt3 (r q : rank) : Prop :=
  match r, q with
  | Rk c a b, Rk c' a' b' => c < c' \/ (c = c' /\ (a < a' \/ (a = a' /\ b < b')))
  end.

Lemma lt3_wf : well_founded lt3.
Proof.
  assert (H : forall c a b, Acc lt3 (Rk c a b)).
  { induction c as [c IHc] using lt_wf_ind.
    induction a as [a IHa] using lt_wf_ind.
    induction b as [b IHb] using lt_wf_ind.
    constructor. intros [c' a' b'] L. simpl in L.
    destruct L as [L | [-> [L | [-> L]]]]; auto. }
  intros [c a b]; apply H.
Qed.

Inductive ranked (s : state) (x : call) : rank -> Prop :=
| RRunning : st s x = Running -> ranked s x (Rk 0 0 0)
| RClaimed : claimed s x = true -> st s x <> Running -> st s x <> Ended -> ranked s x (Rk 1 (pos x) 0)
| RQueued : claimed s x = false -> st s x = Queued -> ranked s x (Rk 2 (place s x) 0)
| RLate : claimed s x = false -> st s x = Dormant \/ st s x = Unsent ->
    ranked s x (Rk 3 (level s (run x)) (pos x)).

Lemma descends : forall s x y r q,
  good s -> waits s x y -> ranked s x r -> ranked s y q -> lt3 q r.
Proof.
  intros s x y r q [Cl As Jo Pr] W Rx Ry.
  destruct W as [U B N | Q H | Q Qy P | A Ay E | D Aw N].
  - (* the run's own order: inside a claim, what comes first is in it *)
    pose proof (before_pos _ _ B). pose proof (before_run _ _ B) as E.
    destruct Rx as [|C _ _|? ?|C _]; try congruence.
    + pose proof (Cl _ _ C B N). destruct Ry; simpl; try lia; congruence.
    + destruct Ry; simpl; try lia. rewrite E. lia.
  - (* a holder *)
    destruct Rx as [|C _ _|C _|C [?|?]]; try congruence.
    + destruct (Jo _ C); congruence.
    + destruct H as [H | [H K]]; destruct Ry as [|? ? ?|? ?|? [?|?]]; simpl; try lia; congruence.
  - (* an earlier waiter *)
    destruct Rx as [|C _ _|C _|C [?|?]]; try congruence.
    + destruct (Jo _ C); congruence.
    + destruct Ry as [|? ? ?|? ?|? [?|?]]; simpl; try lia; congruence.
  - (* a sibling that runs *)
    pose proof (As _ A) as C.
    destruct Rx as [|? _ _|? ?|? ?]; try congruence.
    destruct Ry as [|? ? ?|? ?|? [?|?]]; simpl; try lia; congruence.
  - (* a promise *)
    pose proof (Pr _ _ D Aw).
    destruct Rx as [|C _ _|? ?|? ?]; try congruence.
    + destruct (Jo _ C); congruence.
    + destruct Ry; simpl; lia.
Qed.

(* A set of calls deadlocks if it is not empty and every call in it waits for
   one in it. A cycle of waits is such a set. *)
Definition deadlock (s : state) (D : call -> Prop) : Prop :=
  (exists x, D x) /\ forall x, D x -> exists y, D y /\ waits s x y.

Theorem D1 : forall s D, reachable s -> ~ deadlock s D.
Proof.
  intros s D R [[x0 D0] next].
  pose proof (invariant s R) as G.
  assert (total : forall x y, waits s x y -> exists r, ranked s x r).
  { intros x y W.
    assert (L : st s x <> Running /\ st s x <> Ended) by (destruct W; split; congruence).
    destruct L. destruct (claimed s x) eqn:C; [eexists; apply RClaimed; auto|].
    destruct (st s x) eqn:E; try congruence.
    - eexists; apply RLate; auto.
    - eexists; apply RLate; auto.
    - eexists; apply RQueued; auto.
    - rewrite (aside s G x E) in C. discriminate. }
  assert (no : forall r x, D x -> ranked s x r -> False).
  { induction r as [r IH] using (well_founded_induction lt3_wf).
    intros x Dx Rx.
    destruct (next x Dx) as [y [Dy W]].
    destruct (next y Dy) as [z [_ V]].
    destruct (total y z V) as [q Ry].
    exact (IH q (descends s x y r q G W Rx Ry) y Dy Ry). }
  destruct (next x0 D0) as [y [_ W]].
  destruct (total x0 y W) as [r Rx].
  exact (no r x0 D0 Rx).
Qed.

End Protocol.

(* ---- Why claims are closed ---------------------------------------------- *)

(* Without the rule, two runs wait for each other: each has a claim on its
   second call and, before it, a first call that needs what the other claims. *)
Section Open.

Let before (p c : nat) := (p = 0 /\ c = 1) \/ (p = 2 /\ c = 3).
Let s : state nat :=
  State nat (fun x => if Nat.even x then Queued else Unsent) (fun x => x)
        Nat.odd (fun _ _ => False) (fun _ => 0).

Example open_claims_deadlock :
  deadlock nat (fun x => x / 2) before s (fun x => x < 4).
Proof.
  split; [exists 0; lia |].
  intros x L.
  destruct x as [|[|[|[|x]]]]; try lia.
  - exists 3. split; [lia|]. apply WHolder; [reflexivity|]. right. split; [reflexivity|discriminate].
  - exists 0. split; [lia|]. apply WOrder; [reflexivity|unfold before; lia|discriminate].
  - exists 1. split; [lia|]. apply WHolder; [reflexivity|]. right. split; [reflexivity|discriminate].
  - exists 2. split; [lia|]. apply WOrder; [reflexivity|unfold before; lia|discriminate].
Qed.

End Open.

Print Assumptions D1.

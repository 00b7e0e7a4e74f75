//! The analysis of [`flow`](crate::flow) on small pieces of code whose flow is known.

use crate::effects::Kind;
use crate::flow::findings;
use crate::machine_code::{Program, functions};
use std::collections::BTreeMap;

/// What is found in code whose instructions stand at 0x1000, 0x1001, and so on; there is a jump table at 0x2000 with the
/// targets 0x1005 and 0x1007.
fn kinds(code: &[&str]) -> Vec<Kind> {
    let lines = code.iter().enumerate().map(|(index, text)| format!("    {:x}:\t{text}\n", 0x1000 + index));
    let text = format!("0000000000001000 <snippet>:\n{}", lines.collect::<String>());
    let table = [0x1005_i32, 0x1007, 0].iter().flat_map(|target| (target - 0x2000).to_le_bytes()).collect();
    let linked = BTreeMap::from([(0x3000, "memcpy@GLIBC_2.14".to_owned())]);
    let program = Program { functions: functions(&text, |_| true), linked, segments: vec![(0x2000, table)] };
    findings(&program, &program.functions[&0x1000], |_| false).iter().map(|finding| finding.kind).collect()
}

#[test]
fn loops_over_lengths_and_moves_of_keys_are_clean() {
    let code = [
        "test   rsi,rsi",
        "je     1006 <snippet+0x6>",
        "vmovdqu64 zmm0,ZMMWORD PTR [rdi]",
        "vmovdqu64 ZMMWORD PTR [rdi+rsi*4],zmm0",
        "dec    rsi",
        "jne    1002 <snippet+0x2>",
        "ret",
    ];
    assert_eq!(kinds(&code), []);
}

#[test]
fn a_jump_on_keys_leaks_and_a_selection_does_not() {
    let jump =
        ["mov    eax,DWORD PTR [rdi]", "cmp    eax,DWORD PTR [rdi+0x4]", "jb     1000 <snippet>", "ret"];
    assert_eq!(kinds(&jump), [Kind::Leak]);
    let selection = [
        "mov    eax,DWORD PTR [rdi]",
        "mov    ecx,DWORD PTR [rdi+0x4]",
        "cmp    eax,ecx",
        "cmovb  ecx,eax",
        "mov    DWORD PTR [rdi],ecx",
        "ret",
    ];
    assert_eq!(kinds(&selection), []);
}

#[test]
fn a_comparison_with_a_key_in_memory_leaks() {
    assert_eq!(kinds(&["cmp    DWORD PTR [rdi],0x7", "ja     1000 <snippet>", "ret"]), [Kind::Leak]);
}

#[test]
fn flags_set_anew_forget_the_key_but_the_carry_outlives_a_decrement() {
    let compare = "cmp    DWORD PTR [rdi],0x7";
    assert_eq!(kinds(&[compare, "cmp    rsi,0x1", "jb     1000 <snippet>", "ret"]), []);
    assert_eq!(kinds(&[compare, "dec    rsi", "jne    1000 <snippet>", "ret"]), []);
    assert_eq!(kinds(&[compare, "dec    rsi", "jb     1000 <snippet>", "ret"]), [Kind::Leak]);
}

#[test]
fn an_address_made_from_a_key_leaks() {
    let lookup = ["movzx  eax,BYTE PTR [rdi]", "inc    DWORD PTR [rsi+rax*4]", "ret"];
    assert_eq!(kinds(&lookup), [Kind::Leak]);
    let computed = [
        "mov    rax,QWORD PTR [rdi]",
        "lea    rcx,[rsi+rax*8]",
        "vmovdqu64 zmm0,ZMMWORD PTR [rcx+0x40]",
        "ret",
    ];
    assert_eq!(kinds(&computed), [Kind::Leak]);
    assert_eq!(kinds(&["vpgatherdd zmm1{k1},DWORD PTR [rsi+zmm0*4]", "ret"]), [Kind::Leak]);
}

#[test]
fn what_leaves_a_vector_register_is_secret() {
    let moves = [
        ["vmovd  eax,xmm0", "test   eax,eax"],
        ["vpextrd eax,xmm0,0x1", "test   eax,eax"],
        ["vpmovmskb eax,ymm0", "test   eax,eax"],
        ["vptest ymm0,ymm0", "nop"],
        ["vucomisd xmm0,xmm1", "nop"],
        ["vpcmpud k1,zmm0,zmm1,0x6", "kortestw k1,k1"],
        ["vptestmd k1,zmm0,zmm0", "kortestw k1,k1"],
    ];
    for [first, second] in moves {
        assert_eq!(kinds(&[first, second, "je     1000 <snippet>", "ret"]), [Kind::Leak], "{first}");
    }
}

#[test]
fn an_address_may_be_computed_in_a_vector_register() {
    let compute = |source| {
        [
            source,
            "vpbroadcastq zmm1,xmm1",
            "vpaddq zmm1,zmm1,ZMMWORD PTR [rip+0x1000]        # 4000 <constants>",
            "vpternlogd zmm2,zmm2,zmm2,0xff",
            "vpaddq zmm1,zmm1,zmm2",
            "vpextrq rcx,xmm1,0x1",
            "vmovdqa64 zmm0,ZMMWORD PTR [rdi+rcx*1]",
            "ret",
        ]
    };
    assert_eq!(kinds(&compute("vmovq  xmm1,rsi")), []);
    assert_eq!(kinds(&compute("vmovq  xmm1,QWORD PTR [rdi]")), [Kind::Leak]);
    assert_eq!(kinds(&compute("vpternlogd zmm1,zmm2,zmm3,0x96")), [Kind::Leak]);
}

#[test]
fn counting_lanes_is_clean_and_storing_by_the_count_leaks() {
    let count = ["vpcmpltud k1,zmm0,zmm1", "kmovw  eax,k1", "popcnt eax,eax"];
    assert_eq!(kinds(&[&count[..], &["mov    DWORD PTR [rsi],eax", "ret"]].concat()), []);
    assert_eq!(kinds(&[&count[..], &["mov    DWORD PTR [rsi+rax*4],edx", "ret"]].concat()), [Kind::Leak]);
}

#[test]
fn lanes_of_memory_may_be_chosen_by_a_length_only() {
    let store = ["vmovdqu32 ZMMWORD PTR [rdi]{k1},zmm0", "ret"];
    assert_eq!(kinds(&[&["kmovd  k1,esi"][..], &store].concat()), []);
    assert_eq!(kinds(&[&["vpcmpltud k1,zmm0,zmm1"][..], &store].concat()), [Kind::Leak]);
    let vector_mask = ["vpcmpgtd ymm1,ymm1,ymm2", "vpmaskmovd YMMWORD PTR [rdi],ymm1,ymm0", "ret"];
    assert_eq!(kinds(&[&["vmovd  xmm1,esi", "vmovd  xmm2,edx"][..], &vector_mask].concat()), []);
    assert_eq!(kinds(&[&["vmovd  xmm1,esi"][..], &vector_mask].concat()), [Kind::Leak]);
    assert_eq!(kinds(&["vpcmpltud k1,zmm0,zmm1", "vpcompressd zmm2{k1}{z},zmm0", "ret"]), []);
}

#[test]
fn a_length_put_aside_on_the_stack_stays_public_and_a_key_stays_secret() {
    let read_back =
        ["mov    QWORD PTR [rsp+0x8],rax", "cmp    QWORD PTR [rsp+0x8],0x0", "je     1000 <snippet>", "ret"];
    assert_eq!(kinds(&[&["mov    rax,rsi"][..], &read_back].concat()), []);
    assert_eq!(kinds(&[&["mov    rax,QWORD PTR [rdi]"][..], &read_back].concat()), [Kind::Leak]);
    let overwritten = [
        "mov    QWORD PTR [rsp+0x8],rsi",
        "vmovdqa64 ZMMWORD PTR [rsp],zmm0",
        "cmp    QWORD PTR [rsp+0x8],0x0",
        "je     1000 <snippet>",
        "ret",
    ];
    assert_eq!(kinds(&overwritten), [Kind::Leak]);
    assert_eq!(kinds(&["cmp    QWORD PTR [rsp+0x8],0x0", "je     1000 <snippet>", "ret"]), [Kind::Leak]);
}

#[test]
fn a_key_carried_round_a_loop_is_followed() {
    let code = [
        "xor    eax,eax",
        "test   eax,eax",
        "je     1005 <snippet+0x5>",
        "dec    rsi",
        "jne    1001 <snippet+0x1>",
        "mov    eax,DWORD PTR [rdi]",
        "jmp    1001 <snippet+0x1>",
    ];
    assert_eq!(kinds(&code), [Kind::Leak]);
}

#[test]
fn every_target_of_a_jump_table_is_followed() {
    let table = |index: &'static str, last: &'static str| {
        [
            "lea    rcx,[rip+0xff9]        # 2000 <table>",
            index,
            "add    rax,rcx",
            "jmp    rax",
            "nop",
            "ret",
            "nop",
            last,
            "je     1005 <snippet+0x5>",
            "ret",
        ]
    };
    let by_length = "movsxd rax,DWORD PTR [rcx+rsi*4]";
    assert_eq!(kinds(&table(by_length, "test   esi,esi")), []);
    assert_eq!(kinds(&table(by_length, "cmp    DWORD PTR [rdi],0x0")), [Kind::Leak]);
    let by_key = ["mov    rsi,QWORD PTR [rdi]"].into_iter().chain(table(by_length, "ret"));
    assert_eq!(kinds(&by_key.collect::<Vec<_>>())[0], Kind::Leak);
}

#[test]
fn lengths_of_copies_and_operands_of_divisions_are_public() {
    let copy = "call   QWORD PTR [rip+0x2000]        # 3000 <memcpy@GLIBC_2.14>";
    assert_eq!(kinds(&["mov    rdx,rsi", copy, "ret"]), []);
    assert_eq!(kinds(&["mov    rdx,QWORD PTR [rdi]", copy, "ret"]), [Kind::Leak]);
    let load = "mov    rbx,QWORD PTR [rip+0x2000]        # 3000 <memcpy@GLIBC_2.14>";
    assert_eq!(
        kinds(&[load, "mov    rdx,rsi", "call   rbx", "jmp    rbx"]),
        [Kind::Leak],
        "rdx is lost by the call"
    );
    assert_eq!(kinds(&[load, "mov    rdx,rsi", "jmp    rbx"]), []);
    assert_eq!(kinds(&["mov    rax,rsi", "xor    edx,edx", "div    rcx", "ret"]), []);
    assert_eq!(kinds(&["mov    rax,QWORD PTR [rdi]", "xor    edx,edx", "div    rcx", "ret"]), [Kind::Leak]);
}

#[test]
fn code_that_no_path_leads_to_is_reported() {
    assert_eq!(kinds(&["ret", "int3", "nop"]), []);
    assert_eq!(kinds(&["ret", "xor    eax,eax"]), [Kind::NotUnderstood]);
}

#[test]
fn what_has_no_rule_is_reported() {
    for code in
        ["cpuid", "call   2000 <elsewhere>", "jmp    rdi", "rep movs BYTE PTR es:[rdi],BYTE PTR ds:[rsi]"]
    {
        assert_eq!(kinds(&[code, "ret"]), [Kind::NotUnderstood], "{code}");
    }
}

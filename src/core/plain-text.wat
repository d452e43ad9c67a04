;; Finds where a run of plain characters in a JSON text ends. JavaScript looks at one byte at a time; this at sixteen.
;; plain-text.ts holds it compiled (`npm run build:wasm`).
(module
  ;; One body of 1 MiB, and room for the last sixteen bytes that are looked at.
  (memory (export "memory") 17 17)

  ;; The index of the first byte in [at, end) that is a quote, a backslash or a control character; `end` if there is none.
  (func (export "plainUntil") (param $at i32) (param $end i32) (result i32)
    (local $bytes v128)
    (local $marks i32)
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (local.get $end))))
      (local.set $bytes (v128.load (local.get $at)))
      (local.set $marks
        (i8x16.bitmask
          (v128.or
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
            (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20))))))
      (if (local.get $marks)
        (then
          (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $marks))))
          ;; Behind the end stands what an earlier body has left.
          (return
            (select (local.get $at) (local.get $end) (i32.lt_u (local.get $at) (local.get $end))))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $next))
    unreachable)
)

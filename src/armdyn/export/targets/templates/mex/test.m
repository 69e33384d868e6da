function @PREFIX@_test()
% Compare every function in three states with numbers computed by armdyn.
    failures = 0;
@CHECKS@
    if failures
        error('@PREFIX@:test', '%d functions differ', failures);
    end
    disp('ok');
end

function failed = differs(name, got, expected, tolerance)
    states = size(expected, 1);
    got = reshape(double(got), [], states).';
    scale = max(1, max(abs(expected), [], 2));
    wrong = abs(got - expected) > tolerance * repmat(scale, 1, size(expected, 2));
    wrong = wrong | (isnan(got) ~= isnan(expected));
    failed = any(wrong(:));
    if failed
        fprintf('%s: off by up to %g\n', name, max(abs(got(:) - expected(:))));
    end
end
